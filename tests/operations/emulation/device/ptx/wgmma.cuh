// SPDX-License-Identifier: MIT
// In place of the header of this name, for operands of shared memory in lines of 128 bytes along K. Products take place
// as late as they may, when they are waited for, so that a stage that was released too early shows.
#pragma once

#include "device/ptx/accumulator.cuh"
#include "device/ptx/tma.cuh"
#include "float16.hpp"

namespace pgtune {

constexpr int kInstructionAccumulators = INSTRUCTION_N / 2;

inline float e4m3_to_float(unsigned bits) {
  const int exponent = static_cast<int>(bits >> 3 & 15), fraction = static_cast<int>(bits & 7);
  const float size = exponent == 0 ? ldexpf(static_cast<float>(fraction), -9)
                                   : ldexpf(static_cast<float>(8 + fraction), exponent - 10);
  return bits & 0x80 ? -size : size;
}

/// The element that begins at byte `byte` of a line, of the tile that a descriptor names.
inline float operand_element(unsigned long long descriptor, int line, int byte) {
  if (descriptor >> 62 != 1) std::abort();
  const auto start = static_cast<unsigned>(descriptor & 0x3fff) * 16;
  const auto eight_lines = static_cast<unsigned>(descriptor >> 32 & 0x3fff) * 16;
  const unsigned at = swizzled(start + line / 8 * eight_lines + line % 8 * 128 + byte, 128);
  const unsigned char* const from = Block::own_shared() + at;
  if (ELEM_BYTES == 1) return e4m3_to_float(*from);
  const unsigned bits = from[0] | from[1] << 8;
  return DTYPE == LABEL_bf16 ? __uint_as_float(bits << 16) : half_to_float(bits);
}

/// Lane l of warp w has rows 16w + l / 4 and 8 below, and of every eight columns 2 * (l % 4) and the next one.
inline void wgmma(Accumulator (&acc)[kInstructionAccumulators], unsigned long long left, unsigned long long right,
                  int adds) {
  const int row = static_cast<int>(Block::thread() / 32 % 4 * 16 + Block::thread() % 32 / 4),
            column = static_cast<int>(Block::thread() % 4 * 2);
  Accumulator* const sums = acc;
  Block::copies().push_back([=] {
    float rows[2][32 / ELEM_BYTES];
    for (int i = 0; i < 2; ++i)
      for (int k = 0; k < 32 / ELEM_BYTES; ++k) rows[i][k] = operand_element(left, row + i * 8, k * ELEM_BYTES);
    for (int pair = 0; pair < kInstructionAccumulators / 2; ++pair) {  // the same column, 8 rows apart
      const int first = pair / 2 * 4 + pair % 2;
      double both[2] = {adds ? sums[first] : 0.0, adds ? sums[first + 2] : 0.0};
      for (int k = 0; k < 32 / ELEM_BYTES; ++k) {
        const double factor = operand_element(right, column + pair / 2 * 8 + pair % 2, k * ELEM_BYTES);
        both[0] += rows[0][k] * factor, both[1] += rows[1][k] * factor;
      }
      sums[first] = static_cast<float>(both[0]), sums[first + 2] = static_cast<float>(both[1]);
    }
  });
}

inline void warpgroup_arrive() {}
inline void warpgroup_commit() { Block::commit_copies(); }
template <int kPending>
void warpgroup_wait() {
  Block::wait_for_copies(kPending);
  Block::wait(false);  // warps wait as a whole
}
template <int kCount>
void warpgroup_fence_operand(Accumulator (&/*acc*/)[kCount]) {}

}  // namespace pgtune
