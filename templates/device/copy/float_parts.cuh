// SPDX-License-Identifier: MIT
// Splits a float into a sum of numbers of fewer bits for tensor cores: two tf32 numbers hold at least 22 of its 24
// bits, three bf16 numbers hold all of them.
#pragma once

namespace pgtune {

/// kParts 2: floats whose lower 13 bits are zero. kParts 3: floats whose lower 16 bits are zero, which is bf16.
///
/// The parts are truncated, except the last one of tf32, which is rounded to nearest. So all have the number's sign,
/// and none is zero for a number of at least 2^-100. Where the other factor is infinite, each product of parts is
/// therefore the infinity that the product of the numbers is, and never a NaN.
template <int kParts>
struct FloatParts {
  static constexpr unsigned kCut = kParts == 2 ? 0xffffe000 : 0xffff0000;

  /// Sets `parts` to x's parts, as bits of floats, the largest one first.
  static __device__ __forceinline__ void split(float x, unsigned (&parts)[kParts]) {
    parts[0] = cut(x);
    float left = rest(x, parts[0], x);
    if constexpr (kParts == 3) {
      parts[1] = cut(left);
      left = rest(left, parts[1], x);
    }
    parts[kParts - 1] = (__float_as_uint(left) + (kParts == 2 ? 0x1000 : 0)) & kCut;
  }

 private:
  static constexpr unsigned kSign = 0x80000000, kInfinite = 0x7f800000;

  static __device__ __forceinline__ unsigned cut(float x) {
    // Truncating a NaN could clear all bits that make it one.
    return ((__float_as_uint(x) & ~kSign) > kInfinite ? ~kSign : __float_as_uint(x)) & kCut;
  }
  /// Returns what is left of `of` after `part`; `of` is what was left of x.
  static __device__ __forceinline__ float rest(float of, unsigned part, float x) {
    const unsigned magnitude = __float_as_uint(x) & ~kSign;
    const float left = magnitude == kInfinite ? 0.0f : of - __uint_as_float(part);
    if (left != 0.0f || magnitude < 0x0d800000) return left;
    // Twice 2^-126 is less than half of the last bit of 2^-100.
    return __uint_as_float(0x00800000 | (__float_as_uint(x) & kSign));
  }
};

}  // namespace pgtune
