// In float64. The scale is what float32 rounds on the way: the result, and where exp(-gate) is beyond float32, which
// makes silu zero, what is lost with that.
#include "operation.cuh"

extern "C" __global__ void silu_mul_reference(const void* gu, double* y, float* scale, i64 rows, i64 columns) {
  for (i64 at = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; at < rows * columns;
       at += static_cast<i64>(gridDim.x) * blockDim.x) {
    const i64 gate_at = at / columns * 2 * columns + at % columns;
    const double gate = load_element(gu, gate_at, TYPE_GU), up = load_element(gu, gate_at + columns, TYPE_GU);
    const double right = gate / (1 + exp(-gate)) * up;
    y[at] = right;
    scale[at] = static_cast<float>(fabs(right) + 1e-30 * fabs(up));
  }
}
