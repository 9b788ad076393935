// SPDX-License-Identifier: MIT
// Tiles of mma.sync in shared memory: every byte has a place of its own, lanes read what the instruction wants, and
// those that read at once meet in no bank.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tests/templates/on_host.hpp"
// After what it needs.
#include "templates/device/copy/mma_tile.cuh"

namespace pgtune {
namespace {

constexpr int kBankBytes = 128;  ///< that shared memory delivers at once

template <typename Tile>
void expect_own_places() {
  std::set<int> places;
  for (int line = 0; line < Tile::kLines; ++line) {
    for (int byte = 0; byte < Tile::kLineBytes; byte += 16) {
      const int place = Tile::place(line, byte);
      EXPECT_TRUE(place >= 0 && place + 16 <= Tile::kBytes && place % 16 == 0);
      EXPECT_EQ(Tile::place(line, byte + 12), place + 12);
      places.insert(place);
    }
  }
  EXPECT_EQ(places.size(), static_cast<std::size_t>(Tile::kLines * Tile::kLinePieces));
}

/// The row or column `outer` and the byte `k_byte` of k, as an element's place.
template <typename Tile>
unsigned place_of(int outer, int k_byte) {
  const int k = k_byte / Tile::kElement;
  return static_cast<unsigned>(Tile::kAlongK ? Tile::place(outer, k_byte) : Tile::place(k, outer * Tile::kElement));
}

template <bool kIsA, typename Tile>
void expect_matrices(int first, int lane, int fragment, int step) {
  // Matrices go down the rows of a first, along k first in b.
  const int matrix = lane / 8, line = lane % 8;
  const int down = kIsA ? matrix % 2 : matrix / 2, along = kIsA ? matrix / 2 : matrix % 2;
  const int outer = first + fragment * 16 + down * 8, k_byte = step * 32 + along * 16;
  const unsigned expected =
      Tile::kAlongK ? place_of<Tile>(outer + line, k_byte) : place_of<Tile>(outer, k_byte + line * Tile::kElement);
  EXPECT_EQ(Tile::fragment_at(Tile::lane_offset(first, lane), fragment, step), expected);
}

template <typename Tile>
void expect_words(int first, int lane, int fragment, int step) {
  for (int half = 0; half < 2; ++half) {
    const unsigned at = Tile::fragment_at(Tile::lane_offset(first, lane), fragment, step, half);
    const int outer = first + fragment * 16 + half * 8 + lane / 4, k_byte = step * 32 + lane % 4 * 4;
    EXPECT_EQ(at, place_of<Tile>(outer, k_byte));
    EXPECT_EQ(at + 4 * Tile::kPitch, place_of<Tile>(outer, k_byte + 16));
  }
}

/// The words that a lane gets of a tile's bytes by ldmatrix, transposed, and the exchange after it.
template <typename Tile>
std::vector<unsigned> lane_words(const std::vector<unsigned char>& tile, int first, int lane, int fragment, int step) {
  unsigned words[4];
  for (int matrix = 0; matrix < 4; ++matrix) {
    words[matrix] = 0;
    for (int byte = 0; byte < 4; ++byte) {
      const int line = 8 * matrix + lane % 4 * 2 + byte / 2;
      const unsigned at = Tile::fragment_at(Tile::lane_offset(first, line), fragment, step);
      words[matrix] |= static_cast<unsigned>(tile[at + lane / 4 * 2 + byte % 2]) << 8 * byte;
    }
  }
  Tile::exchange_bytes(words);
  return {words, words + 4};
}

/// Each byte with the row or column that it is of, or its place along k.
template <typename Tile>
std::vector<unsigned char> numbered_bytes(bool along_k) {
  std::vector<unsigned char> tile(Tile::kBytes);
  for (int k = 0; k < Tile::kLines; ++k) {
    for (int outer = 0; outer < Tile::kLineBytes; ++outer)
      tile[Tile::place(k, outer)] = static_cast<unsigned char>(along_k ? k : outer);
  }
  return tile;
}

template <bool kIsA, typename Tile>
void expect_bytes(int first, int lane, int fragment, int step) {
  static const auto outer = numbered_bytes<Tile>(false), along_k = numbered_bytes<Tile>(true);
  const auto outer_words = lane_words<Tile>(outer, first, lane, fragment, step);
  const auto k_words = lane_words<Tile>(along_k, first, lane, fragment, step);
  for (int word = 0; word < 4; ++word) {
    const int half = kIsA ? word % 2 : word / 2, later = kIsA ? word / 2 : word % 2;
    const unsigned row = first + fragment * 16 + Tile::outer_of(half, lane / 4);
    const unsigned k = step * 32 + later * 16 + lane % 4 * 4;
    EXPECT_EQ(outer_words[word], row * 0x01010101) << "lane " << lane << " word " << word;
    EXPECT_EQ(k_words[word], k * 0x01010101 + 0x03020100) << "lane " << lane << " word " << word;
  }
}

/// Lanes that read at once: eight pieces of 16 bytes by ldmatrix, 32 words without.
template <typename Tile>
void expect_no_conflicts(int first, int fragment, int step) {
  constexpr int kAtOnce = Tile::kSingle ? 32 : 8, kBytes = kBankBytes / kAtOnce;
  for (int lane = 0; lane < 32; lane += kAtOnce) {
    std::set<unsigned> banks;
    for (int i = 0; i < kAtOnce; ++i) {
      const unsigned at = Tile::fragment_at(Tile::lane_offset(first, lane + i), fragment, step);
      banks.insert(at % kBankBytes / kBytes);
    }
    EXPECT_EQ(banks.size(), static_cast<std::size_t>(kAtOnce)) << "lane " << lane;
  }
}

template <bool kIsA, bool kAlongK, int kElement, int kExtent, int kDepthBytes, bool kPadded>
void expect_right_tile() {
  using Tile = MmaTile<kIsA, kAlongK, kElement, kExtent, kDepthBytes / kElement, kPadded>;
  SCOPED_TRACE(testing::Message() << kIsA << kAlongK << " " << kElement << " " << kExtent << " " << kDepthBytes << " "
                                  << kPadded);
  expect_own_places<Tile>();
  for (const int warp : {32, 64}) {
    for (int first = 0; first < kExtent; first += warp) {
      for (int fragment = 0; fragment < warp / 16; ++fragment) {
        for (int step = 0; step < kDepthBytes / 32; ++step) {
          for (int lane = 0; lane < 32; ++lane) {
            if constexpr (Tile::kSingle) {
              expect_words<Tile>(first, lane, fragment, step);
            } else if constexpr (Tile::kByBytes) {
              expect_bytes<kIsA, Tile>(first, lane, fragment, step);
            } else {
              expect_matrices<kIsA, Tile>(first, lane, fragment, step);
            }
          }
          expect_no_conflicts<Tile>(first, fragment, step);
        }
      }
    }
  }
}

template <bool kIsA, bool kAlongK, bool kPadded>
void expect_right_tiles() {
  expect_right_tile<kIsA, kAlongK, 1, 64, 64, kPadded>();
  expect_right_tile<kIsA, kAlongK, 1, 256, 128, kPadded>();
  expect_right_tile<kIsA, kAlongK, 2, 64, 64, kPadded>();
  expect_right_tile<kIsA, kAlongK, 2, 256, 128, kPadded>();
  expect_right_tile<kIsA, kAlongK, 4, 64, 64, kPadded>();
  expect_right_tile<kIsA, kAlongK, 4, 256, 128, kPadded>();
}

TEST(MmaTiles, APaddedTileIsReadWithoutConflicts) {
  expect_right_tiles<true, true, true>();
  expect_right_tiles<true, false, true>();
  expect_right_tiles<false, true, true>();
  expect_right_tiles<false, false, true>();
}

TEST(MmaTiles, AnExchangedTileIsReadWithoutConflicts) {
  expect_right_tiles<true, true, false>();
  expect_right_tiles<true, false, false>();
  expect_right_tiles<false, true, false>();
  expect_right_tiles<false, false, false>();
}

}  // namespace
}  // namespace pgtune
