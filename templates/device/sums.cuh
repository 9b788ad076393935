// SPDX-License-Identifier: MIT
// Sums on their way to D, in pieces of four neighbours of a row.
#pragma once

namespace pgtune {

/// The s-th piece of a thread's sums.
template <int kRows, int kColumns>
__device__ __forceinline__ float4 piece(const float (&acc)[kRows][kColumns], int s) {
  const float* const four = &acc[s / (kColumns / 4)][s % (kColumns / 4) * 4];
  return make_float4(four[0], four[1], four[2], four[3]);
}

__device__ __forceinline__ void add(float4& to, const float4& four) {
  to.x += four.x, to.y += four.y, to.z += four.z, to.w += four.w;
}

/// Writes alpha * sums + beta * C for the elements n to n + 3 of a row, of which those before `n_end` exist; C is read
/// only where beta is not zero. kWide: rows start at multiples of 16 bytes and n_end is a multiple of 4.
template <bool kWide>
__device__ __forceinline__ void write_piece(const float4& sums, const float* c, float* d, int n, int n_end, float alpha,
                                            float beta) {
  if constexpr (kWide) {
    if (n >= n_end) return;
    float4 out = make_float4(alpha * sums.x, alpha * sums.y, alpha * sums.z, alpha * sums.w);
    if (beta != 0.0f) {
      const float4 old = *reinterpret_cast<const float4*>(c + n);
      out.x = fmaf(beta, old.x, out.x), out.y = fmaf(beta, old.y, out.y);
      out.z = fmaf(beta, old.z, out.z), out.w = fmaf(beta, old.w, out.w);
    }
    *reinterpret_cast<float4*>(d + n) = out;
  } else {
    const float four[4] = {sums.x, sums.y, sums.z, sums.w};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (n + j < n_end) d[n + j] = beta == 0.0f ? alpha * four[j] : fmaf(beta, c[n + j], alpha * four[j]);
    }
  }
}

}  // namespace pgtune
