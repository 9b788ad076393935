// A thread an element, in float64. The scale is the sum of the terms' magnitudes, as the rule "sum" wants it.
#include "operation.cuh"

__device__ double term(const void* x, i64 i, i64 j, i64 rows, i64 columns, i64 pitch, double factor) {
  const bool inside = i >= 0 && i < rows && j >= 0 && j < columns;
  return inside ? factor * load_element(x, i * pitch + j, TYPE_X) : 0;
}

extern "C" __global__ void stencil2d_reference(const void* x, double* y, float* scale, i64 rows, i64 columns, i64 pitch,
                                               float center, float side) {
  const i64 j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i >= rows || j >= columns) return;
  const double terms[] = {term(x, i, j, rows, columns, pitch, center), term(x, i - 1, j, rows, columns, pitch, side),
                          term(x, i + 1, j, rows, columns, pitch, side), term(x, i, j - 1, rows, columns, pitch, side),
                          term(x, i, j + 1, rows, columns, pitch, side)};
  double sum = 0, magnitude = 0;
  for (const double one : terms) {
    sum += one;
    magnitude += fabs(one);
  }
  // Right values and scales are packed: no pitch.
  y[i * columns + j] = sum;
  scale[i * columns + j] = static_cast<float>(magnitude);
}
