// SPDX-License-Identifier: MIT
// Softmax of rows in float64: a block a row, in three passes.
#include "operation.cuh"

namespace {

constexpr int kThreads = 256;

template <typename Combine>
__device__ double of_block(double value, Combine combine) {
  __shared__ double partial[kThreads];
  __syncthreads();
  partial[threadIdx.x] = value;
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) partial[threadIdx.x] = combine(partial[threadIdx.x], partial[threadIdx.x + step]);
    __syncthreads();
  }
  return partial[0];
}

}  // namespace

// The scale of an element is y * (1 + |x - max| + sqrt(columns) / 16): an exponential in float32 is off by a rounding
// of its argument for each unit of that, and by a few roundings besides; a sum of so many terms of one sign, added one
// after the other, by about as many roundings as their square root.
extern "C" __global__ void softmax(const void* x, double* y, float* scale, i64 rows, i64 columns) {
  const double lowest = -1.0 / 0.0, of_sum = sqrt(static_cast<double>(columns)) / 16;
  for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {
    const i64 first = row * columns;
    double largest = lowest;
    for (i64 j = threadIdx.x; j < columns; j += kThreads) largest = fmax(largest, load_element(x, first + j, TYPE_X));
    largest = of_block(largest, [](double a, double b) { return fmax(a, b); });
    double sum = 0;
    for (i64 j = threadIdx.x; j < columns; j += kThreads) sum += exp(load_element(x, first + j, TYPE_X) - largest);
    sum = of_block(sum, [](double a, double b) { return a + b; });
    for (i64 j = threadIdx.x; j < columns; j += kThreads) {
      const double distance = load_element(x, first + j, TYPE_X) - largest;
      y[first + j] = exp(distance) / sum;
      scale[first + j] = static_cast<float>(exp(distance) / sum * (1 - distance + of_sum));
    }
  }
}
