// SPDX-License-Identifier: MIT
// Stores float accumulators to D, in pieces of four neighbours of a row.
#pragma once

namespace pgtune {

/// Returns the s-th piece of a thread's accumulators.
template <int kRows, int kColumns>
__device__ __forceinline__ float4 piece(const float (&acc)[kRows][kColumns], int s) {
  const float* const four = &acc[s / (kColumns / 4)][s % (kColumns / 4) * 4];
  return make_float4(four[0], four[1], four[2], four[3]);
}

__device__ __forceinline__ void add(float4& to, const float4& four) {
  to.x += four.x, to.y += four.y, to.z += four.z, to.w += four.w;
}

/// Exchanges the accumulators of four lanes that are neighbours in a row of D, so that each lane has one element of
/// every piece: of the pieces in their order, its own element `q`. The lanes differ in the bits kFirst and kSecond,
/// which q counts. Whole warps call it.
template <int kFirst, int kSecond>
__device__ __forceinline__ void exchange(float (&four)[4], int q) {
  const bool odd = q % 2 != 0, upper = q / 2 != 0;
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const float other = __shfl_xor_sync(0xffffffff, odd ? four[i] : four[i + 1], kFirst);
    (odd ? four[i] : four[i + 1]) = other;
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const float other = __shfl_xor_sync(0xffffffff, upper ? four[i] : four[i + 2], kSecond);
    (upper ? four[i] : four[i + 2]) = other;
  }
}

/// Stores to D. kEvictsFirst tells L2 to evict it first.
template <bool kEvictsFirst, class Value>
__device__ __forceinline__ void store(Value* to, const Value& value) {
  if constexpr (kEvictsFirst) {
    __stcs(to, value);
  } else {
    *to = value;
  }
}

/// Stores alpha * accumulators + beta * C for the elements n to n + 3 of a row, as far as they lie before n_end, a
/// multiple of 4. Rows start at multiples of 16 bytes. C is read only where beta is not zero.
template <bool kEvictsFirst>
__device__ __forceinline__ void write_piece(const float4& acc, const float* c, float* d, int n, int n_end, float alpha,
                                            float beta) {
  if (n >= n_end) return;
  float4 out = make_float4(alpha * acc.x, alpha * acc.y, alpha * acc.z, alpha * acc.w);
  if (beta != 0.0f) {
    const float4 old = *reinterpret_cast<const float4*>(c + n);
    out.x = fmaf(beta, old.x, out.x), out.y = fmaf(beta, old.y, out.y);
    out.z = fmaf(beta, old.z, out.z), out.w = fmaf(beta, old.w, out.w);
  }
  store<kEvictsFirst>(reinterpret_cast<float4*>(d + n), out);
}

/// The same for rows that start anywhere: stores four elements from n on, kStep apart, those before n_end.
template <int kStep, bool kEvictsFirst>
__device__ __forceinline__ void write_floats(const float (&acc)[4], const float* c, float* d, int n, int n_end,
                                             float alpha, float beta) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int at = n + kStep * i;
    if (at < n_end) store<kEvictsFirst>(d + at, beta == 0.0f ? alpha * acc[i] : fmaf(beta, c[at], alpha * acc[i]));
  }
}

}  // namespace pgtune
