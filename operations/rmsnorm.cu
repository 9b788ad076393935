// SPDX-License-Identifier: MIT
// Root mean square normalisation of rows in float64: a block a row, in two passes.
#include "operation.cuh"

// Scales: what is rounded on the way. Of H the operands, of Y what it would be of them: cancellation in X + R costs as
// much as X and R are large. The sum of squares is off by about as many roundings as the square root of their number,
// and its square root by half of that.
extern "C" __global__ void rmsnorm(const void* x, const void* r, const void* w, double* h, float* h_scale, double* y,
                                   float* y_scale, i64 rows, i64 columns, float eps) {
  __shared__ double partial[256];
  for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {
    const i64 first = row * columns;
    double sum = 0;
    for (i64 j = threadIdx.x; j < columns; j += blockDim.x) {
      const double value = load_element(x, first + j, TYPE_X) + load_element(r, first + j, TYPE_R);
      sum += value * value;
    }
    __syncthreads();
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
      if (threadIdx.x < step) partial[threadIdx.x] += partial[threadIdx.x + step];
      __syncthreads();
    }
    const double factor = 1 / sqrt(partial[0] / static_cast<double>(columns) + eps);
    const double of_sum = sqrt(static_cast<double>(columns)) / 16;
    for (i64 j = threadIdx.x; j < columns; j += blockDim.x) {
      const double left = load_element(x, first + j, TYPE_X), right = load_element(r, first + j, TYPE_R);
      const double weight = load_element(w, j, TYPE_W), size = fabs(left) + fabs(right);
      h[first + j] = left + right;
      h_scale[first + j] = static_cast<float>(size);
      y[first + j] = (left + right) * factor * weight;
      y_scale[first + j] = static_cast<float>((size + fabs(left + right) * of_sum) * factor * fabs(weight));
    }
  }
}
