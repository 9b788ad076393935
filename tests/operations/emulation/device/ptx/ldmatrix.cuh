// SPDX-License-Identifier: MIT
// In place of the header of this name.
#pragma once

#include "device/ptx/shared_memory.cuh"

namespace pgtune {

template <bool kTransposed>
void ldmatrix_x4(unsigned (&out)[4], unsigned shared) {
  static_assert(!kTransposed, "no template that is run here transposes");
  const auto lines = all_of_warp(std::array{shared});
  const unsigned lane = Block::thread() % 32;
  for (unsigned matrix = 0; matrix < 4; ++matrix)
    out[matrix] = load_shared(lines[matrix * 8 + lane / 4][0] + lane % 4 * 4);
}

}  // namespace pgtune
