// SPDX-License-Identifier: MIT
// In place of the header of this name, of which it takes all but the instructions.
#pragma once

#define WgmmaBox WgmmaBoxOfTheGpu
#include_next "device/epilogue/wgmma_box.cuh"
#undef WgmmaBox

namespace pgtune {

template <bool kSwapped, int kElementBytes, Type16 kType, int kBoxLines, int kSpan, int kApart>
struct WgmmaBox : WgmmaBoxOfTheGpu<kSwapped, kElementBytes, kType, kBoxLines, kSpan, kApart> {
  using Base = WgmmaBoxOfTheGpu<kSwapped, kElementBytes, kType, kBoxLines, kSpan, kApart>;
  static_assert(kElementBytes == 2 && kApart == 8, "what stmatrix writes");

  /// stmatrix: lane i names a line of 8 elements of matrix i / 8, and of each matrix holds two neighbours in line
  /// lane / 4 or, transposed, in column lane / 4.
  static void fill(const float* acc, unsigned box, int lane) {
    constexpr int kGroups = Base::kSlab / 8;
    for (int group = 0; group < kGroups; group += 2) {
      const auto places = all_of_warp(std::array{Base::place_of_matrix(box, group, lane)});
      for (int matrix = 0; matrix < (group + 1 == kGroups ? 2 : 4); ++matrix) {
        const unsigned both = pack<kType>(acc[group * 4 + 2 * matrix], acc[group * 4 + 2 * matrix + 1]);
        for (int i = 0; i < 2; ++i) {
          const int along = lane % 4 * 2 + i, line = kSwapped ? along : lane / 4, element = kSwapped ? lane / 4 : along;
          const auto bits = static_cast<unsigned short>(both >> 16 * i);
          std::memcpy(Block::dynamic_shared() + places[matrix * 8 + line][0] + element * 2, &bits, 2);
        }
      }
    }
  }
};

}  // namespace pgtune
