// SPDX-License-Identifier: MIT
// The boxes through which gemm_wgmma passes C and D: what is copied of C lies as TMA lays it out, each lane reads the
// elements of its own accumulators, and nothing outside of C is read.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <vector>

#include "tests/templates/on_host.hpp"
// After what it needs.
#include "templates/device/epilogue/staged_lines.cuh"
#include "templates/device/epilogue/wgmma_box.cuh"

namespace pgtune {
namespace {

/// A box as its template's arguments say.
template <bool kSwappedProduct, int kBytesOfElement, int kLines, int kSpanBytes, int kRowsApart>
struct BoxCase {
  using Box = WgmmaBox<kSwappedProduct, kBytesOfElement, Type16::kBf16, kLines, kSpanBytes, kRowsApart>;
  static constexpr bool kSwapped = kSwappedProduct;
  static constexpr int kBytes = kBytesOfElement, kSpan = kSpanBytes, kApart = kRowsApart;

  /// Where TMA's swizzle puts a byte of a line.
  static unsigned place(int line, int byte) {
    const auto at = static_cast<unsigned>(line * kSpan + byte);
    return at ^ (at >> 7) % (kSpan / 16) << 4;
  }
  /// Where the i-th accumulator of the box belongs, of a lane of a warp.
  static unsigned place_of_accumulator(int warp, int lane, int i) {
    const int half = i / 2 % 2, row = warp * 16 + (kApart == 8 ? lane / 4 + half * 8 : lane / 4 * 2 + half);
    const int column = i / 4 * 8 + lane % 4 * 2 + i % 2;
    return kSwapped ? place(column, row * kBytes) : place(row, column * kBytes);
  }
};

template <class Case>
class WgmmaBoxes : public testing::Test {};

using BoxCases =
    testing::Types<BoxCase<false, 2, 16, 128, 8>, BoxCase<false, 2, 16, 64, 8>, BoxCase<false, 2, 16, 32, 8>,
                   BoxCase<false, 4, 16, 128, 8>, BoxCase<false, 4, 16, 64, 8>, BoxCase<false, 2, 16, 128, 1>,
                   BoxCase<false, 4, 16, 128, 1>, BoxCase<true, 2, 8, 32, 8>, BoxCase<true, 2, 16, 32, 8>,
                   BoxCase<true, 2, 64, 32, 8>, BoxCase<true, 2, 64, 32, 1>, BoxCase<true, 4, 32, 64, 1>,
                   BoxCase<true, 2, 8, 128, 8>, BoxCase<true, 2, 40, 128, 8>, BoxCase<true, 2, 64, 128, 8>,
                   BoxCase<true, 2, 16, 128, 1>>;
TYPED_TEST_SUITE(WgmmaBoxes, BoxCases);

TYPED_TEST(WgmmaBoxes, EachPieceOfCIsCopiedOnceToItsPlace) {
  using Box = typename TypeParam::Box;
  constexpr int kElements = TypeParam::kSpan / TypeParam::kBytes, kLd = kElements + 24;
  std::vector<typename Box::Element> matrix(static_cast<std::size_t>((Box::kLines + 1) * kLd));
  for (const int lines_left : {Box::kLines + 5, Box::kLines, Box::kLines / 2 + 1, 0, -3}) {
    for (const int elements_left : {kElements + 8, kElements, kElements - 8, -8}) {
      std::vector<int> written(Box::kBytes / 16);
      for (int thread = 0; thread < Box::kWarps * 32; ++thread) {
        const int warp = thread / 32, first = warp * kElements / Box::kWarps;
        Box::each_piece(matrix.data() + first, kLd, lines_left, elements_left - first, Box::part_of_warp(0, warp),
                        thread % 32, [&](unsigned to, const typename Box::Element* from, bool exists) {
                          if (!exists) return;
                          const int line = static_cast<int>(from - matrix.data()) / kLd;
                          const int element = static_cast<int>(from - matrix.data()) % kLd;
                          EXPECT_TRUE(line < lines_left && element + 16 / TypeParam::kBytes <= elements_left);
                          ASSERT_EQ(to, TypeParam::place(line, element * TypeParam::kBytes));
                          ASSERT_TRUE(to % 16 == 0 && to < static_cast<unsigned>(Box::kBytes));
                          ++written[to / 16];
                        });
      }
      for (int line = 0; line < Box::kLines; ++line) {
        for (int element = 0; element < kElements; element += 16 / TypeParam::kBytes) {
          const unsigned at = TypeParam::place(line, element * TypeParam::kBytes) / 16;
          EXPECT_EQ(written[at], line < lines_left && element < elements_left ? 1 : 0);
        }
      }
    }
  }
}

TYPED_TEST(WgmmaBoxes, LanesReadAndWriteTheirOwnElements) {
  using Box = typename TypeParam::Box;
  for (int thread = 0; thread < Box::kWarps * 32; ++thread) {
    const int warp = thread / 32, lane = thread % 32;
    const unsigned box = Box::part_of_warp(0, warp);
    const auto own = [&](int i) { return TypeParam::place_of_accumulator(warp, lane, i); };
    if constexpr (TypeParam::kSwapped && TypeParam::kApart == 1) {
      for (int pair = 0; pair < Box::kSlab / 4; ++pair) {
        const int i = Box::first_of_column(pair);
        EXPECT_EQ(Box::place_in_column(box, i, lane), own(i));
        EXPECT_EQ(Box::place_in_column(box, i, lane) + TypeParam::kBytes, own(i + 2));
      }
    } else if constexpr (TypeParam::kBytes == 4) {
      for (int i = 0; i < Box::kSlab / 2; i += 2) {
        EXPECT_EQ(Box::place_of_pair(box, i, lane), own(i));
        EXPECT_EQ(Box::place_of_pair(box, i, lane) + 4, own(i + 1));
      }
    } else {
      // What ldmatrix and stmatrix give a lane of matrix m: bytes 4 * (lane % 4) and on of line lane / 4 or,
      // transposed, element lane / 4 of lines 2 * (lane % 4) and the next.
      for (int i = 0; i < Box::kSlab / 2; ++i) {
        const int matrix = i % 8 / 2, group = i / 8 * 2, which = i % 2;
        const int from = matrix * 8 + (TypeParam::kSwapped ? lane % 4 * 2 + which : lane / 4);
        const int byte = TypeParam::kSwapped ? lane / 4 * 2 : lane % 4 * 4 + which * 2;
        EXPECT_EQ(Box::place_of_matrix(box, group, from) + static_cast<unsigned>(byte), own(i));
      }
    }
  }
}

/// Stores a line of 16-bit elements that starts `start` elements after a multiple of four bytes, as the lanes do that
/// have a word of the box each.
template <class Box, bool kEven>
void expect_line_stored(int words, int start, int elements_left) {
  SCOPED_TRACE(testing::Message() << words << " words from " << start << ", " << elements_left << " left");
  constexpr unsigned short kUntouched = 0xffff;
  alignas(4) unsigned short line[72];
  std::fill(std::begin(line), std::end(line), kUntouched);
  const auto word_of = [](int word) { return static_cast<unsigned>((2 * word + 1) | (2 * word + 2) << 16); };
  for (int word = 0; word < words; ++word) {
    StagedLines<Box>::template store_word<kEven>(line + 2 + start, word_of(word), word_of((word + 1) % words), word,
                                                 word + 1 == words, elements_left);
  }
  for (int i = 0; i < 72; ++i) {
    const int element = i - 2 - start;
    const bool stored = element >= 0 && element < std::min(2 * words, elements_left);
    EXPECT_EQ(line[i], stored ? static_cast<unsigned short>(element + 1) : kUntouched) << element;
  }
}

TEST(StagedLines, AreStoredWhereverTheyStartAndEnd) {
  using Box = WgmmaBox<false, 2, Type16::kBf16, 16, 128, 8>;
  for (const int words : {8, 16, 32}) {
    for (int left = -3; left <= 2 * words + 3; ++left) {
      expect_line_stored<Box, false>(words, 0, left);
      expect_line_stored<Box, false>(words, 1, left);
      expect_line_stored<Box, true>(words, 0, left);
    }
  }
}

}  // namespace
}  // namespace pgtune
