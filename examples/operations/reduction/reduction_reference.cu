// One block, in float64. The scale is the sum of magnitudes.
#include "operation.cuh"

extern "C" __global__ void reduction_reference(const void* x, double* y, float* scale, i64 count) {
  __shared__ double sums[1024], magnitudes[1024];
  double sum = 0, magnitude = 0;
  for (i64 i = threadIdx.x; i < count; i += blockDim.x) {
    const double value = load_element(x, i, TYPE_X);
    sum += value;
    magnitude += fabs(value);
  }
  sums[threadIdx.x] = sum;
  magnitudes[threadIdx.x] = magnitude;
  for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x >= step) continue;
    sums[threadIdx.x] += sums[threadIdx.x + step];
    magnitudes[threadIdx.x] += magnitudes[threadIdx.x + step];
  }
  if (threadIdx.x != 0) return;
  y[0] = sums[0];
  scale[0] = static_cast<float>(magnitudes[0]);
}
