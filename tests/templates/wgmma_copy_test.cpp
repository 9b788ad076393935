// SPDX-License-Identifier: MIT
// The threads that copy an operand's tile without TMA put each element where the tensor cores read it, put zeros where
// there is none, and read nothing outside of the operand.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/templates/on_host.hpp"
// After what it needs.
#include "templates/device/copy/wgmma_copy.cuh"

namespace pgtune {
namespace {

struct CopiedOperand {
  int outer_size, depth, batches;
  int line_bytes;
  [[nodiscard]] int lines(bool along_mn) const { return along_mn ? depth : outer_size; }
  [[nodiscard]] int bytes(bool along_mn, int element) const { return (along_mn ? outer_size : depth) * element; }
};

/// Where the hardware looks for the element: panels of `span` bytes side by side, bits 7 and up of the address XORed
/// into the number of the 16-byte piece.
template <class Tile>
int swizzled_place(int outer, int k) {
  const int along = (Tile::kAlongMn ? outer : k) * Tile::kElement, line = Tile::kAlongMn ? k : outer;
  const int place = along / Tile::kLineBytes * Tile::kPanelBytes + line * Tile::kLineBytes + along % Tile::kLineBytes;
  return place ^ ((place >> 7) % (Tile::kLineBytes / 16)) << 4;
}

template <class Tile, int kOuter, int kPiece>
void expect_copied(const CopiedOperand& operand, int first_outer, int first_block, int block_stride) {
  const bool mn = Tile::kAlongMn;
  const int stride = operand.lines(mn) * operand.line_bytes, batch = operand.batches - 1;
  std::vector<char> memory(static_cast<std::size_t>(stride * operand.batches));
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<char>(i * 2654435761U >> 13 | 1);  // not 0
  const CopySource source{memory.data(), operand.line_bytes, stride};
  std::vector<WgmmaCopy<Tile, kPiece>> threads;
  for (int thread = 0; thread < 128; ++thread)
    threads.emplace_back(source, operand.outer_size, operand.depth, first_outer, first_block * Tile::kSteps, batch,
                         thread);

  for (int block = first_block; block * Tile::kSteps < operand.depth; block += block_stride) {
    std::vector<char> tile(Tile::kBytes);
    std::vector<int> written(Tile::kBytes);
    for (auto& thread : threads) {
      thread.next(0, block_stride, [&](unsigned to, const char* from, bool exists) {
        ASSERT_TRUE(to % kPiece == 0 && to + kPiece <= static_cast<unsigned>(Tile::kBytes));
        for (int i = 0; i < kPiece; ++i) ++written[to + static_cast<unsigned>(i)];
        if (!exists) return;
        const auto at = from - memory.data() - static_cast<std::ptrdiff_t>(batch) * stride;
        ASSERT_TRUE(at >= 0 && at + kPiece <= stride && at % kPiece == 0);
        ASSERT_LE(at % operand.line_bytes + kPiece, operand.bytes(mn, Tile::kElement)) << "reads behind a line";
        std::memcpy(tile.data() + to, from, kPiece);
      });
    }
    for (const int times : written) ASSERT_EQ(times, 1);
    for (int o = 0; o < kOuter; ++o) {
      for (int k = 0; k < Tile::kSteps; ++k) {
        const int outer = first_outer + o, step = block * Tile::kSteps + k;
        const bool exists = outer < operand.outer_size && step < operand.depth;
        const int at = batch * stride + (mn ? step : outer) * operand.line_bytes + (mn ? outer : step) * Tile::kElement;
        for (int byte = 0; byte < Tile::kElement; ++byte) {
          ASSERT_EQ(tile[static_cast<std::size_t>(swizzled_place<Tile>(o, k) + byte)],
                    exists ? memory[static_cast<std::size_t>(at + byte)] : 0)
              << "outer " << outer << ", k " << step;
        }
      }
    }
  }
}

/// An operand that ends inside a tile and inside a k-block, with lines of any multiple of kPiece, padded or not.
template <bool kMnMajor, int kOuter, int kBlockK, int kElement, int kSpan, int kPiece>
void expect_tiles_copied() {
  SCOPED_TRACE(testing::Message() << "MN-major " << kMnMajor << ", " << kOuter << " x " << kBlockK << " of " << kElement
                                  << " bytes, span " << kSpan << ", pieces of " << kPiece);
  using Tile = WgmmaOperand<kMnMajor, kOuter, kBlockK, kElement, kSpan>;
  const int unit = kPiece / kElement > 1 ? kPiece / kElement : 1;
  CopiedOperand operand{kOuter + kOuter / 2 / unit * unit + unit, 2 * kBlockK + kBlockK / 2 / unit * unit + unit, 2, 0};
  for (const int padding : {0, 3 * kPiece}) {
    operand.line_bytes = operand.bytes(kMnMajor, kElement) + padding;
    expect_copied<Tile, kOuter, kPiece>(operand, 0, 0, 1);
    expect_copied<Tile, kOuter, kPiece>(operand, kOuter, 1, 1);
    expect_copied<Tile, kOuter, kPiece>(operand, kOuter, 0, 2);
  }
}

template <int kPiece>
void expect_all_tiles_copied() {
  expect_tiles_copied<false, 128, 64, 2, 128, kPiece>();
  expect_tiles_copied<false, 80, 128, 2, 128, kPiece>();  // k-blocks of 256 bytes
  expect_tiles_copied<false, 48, 32, 2, 64, kPiece>();
  expect_tiles_copied<false, 192, 16, 2, 32, kPiece>();
  expect_tiles_copied<false, 8, 64, 2, 128, kPiece>();
  expect_tiles_copied<false, 256, 32, 4, 128, kPiece>();
  expect_tiles_copied<false, 112, 128, 1, 128, kPiece>();
  expect_tiles_copied<true, 128, 64, 2, 128, kPiece>();
  expect_tiles_copied<true, 192, 64, 2, 128, kPiece>();
  expect_tiles_copied<true, 96, 64, 2, 64, kPiece>();
  expect_tiles_copied<true, 80, 128, 2, 32, kPiece>();
  expect_tiles_copied<true, 256, 32, 2, 128, kPiece>();
}

TEST(WgmmaCopy, PiecesOf16BytesLieWhereTheyAreRead) { expect_all_tiles_copied<16>(); }
TEST(WgmmaCopy, PiecesOf8BytesLieWhereTheyAreRead) { expect_all_tiles_copied<8>(); }
TEST(WgmmaCopy, PiecesOf4BytesLieWhereTheyAreRead) { expect_all_tiles_copied<4>(); }

}  // namespace
}  // namespace pgtune
