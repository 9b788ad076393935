// SPDX-License-Identifier: MIT
// A product in float64, with what its error may be measured by.
#include "operation.cuh"

// Numbered as the operation's JSON hands them over.
enum Activation { kNoActivation, kRelu, kGelu, kSilu };

__device__ inline double activated(double x, i64 activation) {
  switch (activation) {
    case kRelu:
      return x > 0 ? x : 0;
    // With tanh(u) = 2 / (1 + exp(-2 u)) - 1; 0.797... is sqrt(2 / pi).
    case kGelu:
      return x / (1 + exp(-2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x)));
    case kSilu:
      return x / (1 + exp(-x));
    default:
      return x;
  }
}

// result = activation(x) with x = alpha op(A) op(B) + beta C + bias in float64, and scale = |alpha| |op(A)| |op(B)| +
// |beta C| + |bias|, both packed M x N per batch; `bias` is null where there is none. Element (i, j) of op(A) is
// a[i * row_a + j * column_a], of op(B) likewise. Before a bias is added and before an activation is applied the value
// may be rounded to D's type: some of cuBLASLt's kernels do, and who calls it accepts that. So `rounding` times
// |x - bias| counts as scale where there is a bias, and times |x| where there is an activation. Kernels take alpha and
// beta as float32, so that is what is used here; those of integers fit in it. 64 x 64 tile, 16 x 16 threads with 4 x 4
// elements each.
extern "C" __global__ void __launch_bounds__(256)
    gemm(const void* a, const void* b, const void* c, const void* bias, double* result, float* scale, i64 m, i64 n,
         i64 depth, i64 batches, i64 row_a, i64 column_a, i64 stride_a, i64 row_b, i64 column_b, i64 stride_b, i64 ldc,
         i64 stride_c, i64 activation, double rounding, float alpha_f32, float beta_f32) {
  const double alpha = alpha_f32, beta = beta_f32;
  constexpr int kTile = 64, kDepth = 16, kPad = 2;
  __shared__ double tile_a[kDepth][kTile + kPad], tile_b[kDepth][kTile + kPad];
  const int thread = threadIdx.x, tx = thread % 16, ty = thread / 16;
  const i64 tiles_n = (n + kTile - 1) / kTile;
  const i64 m0 = blockIdx.x / tiles_n * kTile, n0 = blockIdx.x % tiles_n * kTile;
  for (i64 batch = blockIdx.y; batch < batches; batch += gridDim.y) {
    const i64 first_a = batch * stride_a, first_b = batch * stride_b;
    double sum[4][4] = {}, magnitude[4][4] = {};
    for (i64 k0 = 0; k0 < depth; k0 += kDepth) {
#pragma unroll 1
      for (int i = thread; i < kTile * kDepth; i += 256) {
        // Neighbouring threads take neighbouring addresses in either layout.
        const int am = column_a == 1 ? i / kDepth : i % kTile, ak = column_a == 1 ? i % kDepth : i / kTile;
        const int bn = column_b == 1 ? i % kTile : i / kDepth, bk = column_b == 1 ? i / kTile : i % kDepth;
        const bool inside_a = m0 + am < m && k0 + ak < depth, inside_b = n0 + bn < n && k0 + bk < depth;
        const i64 at_a = first_a + (m0 + am) * row_a + (k0 + ak) * column_a;
        const i64 at_b = first_b + (k0 + bk) * row_b + (n0 + bn) * column_b;
        tile_a[ak][am] = inside_a ? load_element(a, at_a, TYPE_A) : 0;
        tile_b[bk][bn] = inside_b ? load_element(b, at_b, TYPE_B) : 0;
      }
      __syncthreads();
#pragma unroll 1
      for (int k = 0; k < kDepth; ++k) {
        double left[4], right[4];
        for (int i = 0; i < 4; ++i) left[i] = tile_a[k][ty + 16 * i];
        for (int j = 0; j < 4; ++j) right[j] = tile_b[k][tx + 16 * j];
        for (int i = 0; i < 4; ++i) {
          for (int j = 0; j < 4; ++j) {
            sum[i][j] += left[i] * right[j];
            magnitude[i][j] += fabs(left[i]) * fabs(right[j]);
          }
        }
      }
      __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        const i64 row = m0 + ty + 16 * i, column = n0 + tx + 16 * j;
        if (row >= m || column >= n) continue;
        const double addend = beta == 0 ? 0 : beta * load_element(c, batch * stride_c + row * ldc + column, TYPE_D);
        const double shift = bias == nullptr ? 0 : load_element(bias, column, TYPE_D);
        const double unshifted = alpha * sum[i][j] + addend, argument = unshifted + shift;
        const double rounded_before =
            (bias == nullptr ? 0 : fabs(unshifted)) + (activation == kNoActivation ? 0 : fabs(argument));
        const i64 at = (batch * m + row) * n + column;
        result[at] = activated(argument, activation);
        scale[at] =
            static_cast<float>(fabs(alpha) * magnitude[i][j] + fabs(addend) + fabs(shift) + rounding * rounded_before);
      }
    }
  }
}
