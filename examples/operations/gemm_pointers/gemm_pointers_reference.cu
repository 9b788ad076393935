// In float64. The scale is the sum of the terms' magnitudes.
#include "operation.cuh"

extern "C" __global__ void gemm_pointers_reference(const void* const* as, const void* const* bs, double* c,
                                                   float* scale, i64 products, i64 rows, i64 columns, i64 depth) {
  for (i64 product = blockIdx.y; product < products; product += gridDim.y) {
    for (i64 at = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; at < rows * columns;
         at += static_cast<i64>(gridDim.x) * blockDim.x) {
      const i64 row = at / columns, column = at % columns;
      double sum = 0, magnitudes = 0;
      for (i64 k = 0; k < depth; ++k) {
        const double term = load_element(as[product], row * depth + k, TYPE_As) *
                            load_element(bs[product], k * columns + column, TYPE_Bs);
        sum += term;
        magnitudes += fabs(term);
      }
      c[product * rows * columns + at] = sum;
      scale[product * rows * columns + at] = static_cast<float>(magnitudes);
    }
  }
}
