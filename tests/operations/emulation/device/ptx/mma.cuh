// SPDX-License-Identifier: MIT
// In place of the header of this name: m16n8k16 of bf16 or float16, summed in double, and e4m3 widened to float16.
#pragma once

#include "float16.hpp"

namespace pgtune {

using Accumulator = float;

inline float half_word(unsigned word, unsigned half) {
  const unsigned bits = word >> 16 * half & 0xffff;
  return DTYPE == LABEL_bf16 ? __uint_as_float(bits << 16) : half_to_float(bits);
}

/// Lane l holds, with g = l / 4 and c = l % 4: of a words c, of rows g and g + 8, then words c + 4 of them; of b words
/// c and c + 4 of column g; of the accumulators columns 2c and 2c + 1 of row g, then of row g + 8.
inline void mma_sync(Accumulator (&acc)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  static_assert(DTYPE == LABEL_bf16 || DTYPE == LABEL_f16 || WIDENS, "these types alone are run here");
  // Each thread widens its own: two numbers of each word.
  std::array<unsigned, 12> mine{};
  for (unsigned i = 0; i < 12; ++i) mine[i] = __float_as_uint(half_word(i < 8 ? a[i / 2] : b[i / 2 - 4], i % 2));
  const auto all = all_of_warp(mine);
  const unsigned lane = Block::thread() % 32;
  for (unsigned e = 0; e < 4; ++e) {
    const unsigned row = lane / 4, column = lane % 4 * 2 + e % 2;
    double sum = acc[e];
    for (unsigned k = 0; k < 16; ++k) {
      const unsigned word = k / 2, later = word / 4;
      const float left = __uint_as_float(all[row * 4 + word % 4][2 * (e / 2 + 2 * later) + k % 2]);
      const float right = __uint_as_float(all[column * 4 + word % 4][8 + 2 * later + k % 2]);
      sum += static_cast<double>(left) * right;
    }
    acc[e] = static_cast<float>(sum);
  }
}

inline void mma_sync_from_zero(Accumulator (&acc)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  for (float& sum : acc) sum = 0;
  mma_sync(acc, a, b);
}

inline unsigned float16_of_e4m3(unsigned bits) {
  const unsigned sign = (bits & 0x80) << 8, rest = bits & 0x7f;
  if (rest == 0) return sign;
  int exponent = static_cast<int>(rest >> 3) - 7;
  unsigned fraction = rest & 7;
  if (rest >> 3 == 0) {
    exponent = -6;
    while ((fraction & 8) == 0) fraction <<= 1, --exponent;
    fraction &= 7;
  }
  return sign | static_cast<unsigned>(exponent + 15) << 10 | fraction << 7;
}

template <bool kE5m2>
void widen(unsigned four, unsigned& first, unsigned& second) {
  static_assert(!kE5m2, "no template that is run here takes e5m2");
  const auto two = [](unsigned bits) { return float16_of_e4m3(bits & 0xff) | float16_of_e4m3(bits >> 8 & 0xff) << 16; };
  first = two(four);
  second = two(four >> 16);
}

}  // namespace pgtune
