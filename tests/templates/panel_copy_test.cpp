// SPDX-License-Identifier: MIT
// The threads that copy a tile of floats that TMA cannot read put each where TMA would have put it, put zeros where
// there is none, and read nothing outside of the operand.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/templates/on_host.hpp"
// After what it needs.
#include "templates/device/copy/panel_copy.cuh"

namespace pgtune {
namespace {

constexpr int kBlockK = 16;

/// Where a float lies in a tile: lines along D as they are, lines along k with pieces of 16 bytes exchanged by the
/// second and third bit of the line's number.
int place(bool along_k, int extent, int outer, int k) {
  return along_k ? outer * kBlockK + ((k / 4) ^ (outer / 2 % 4)) * 4 + k % 4 : k * extent + outer;
}

/// An operand of `extent` rows (or columns) by `depth`, in two batches of lines that are `padding` apart.
template <bool kAlongK, int kExtent, int kPiece, int kThreads>
void expect_copied(int extent, int depth, int padding, int first_outer, int first_k, int steps) {
  const int ld = (kAlongK ? depth : extent) + padding, stride = (kAlongK ? extent : depth) * ld, batch = 1;
  std::vector<float> memory(static_cast<std::size_t>(2 * stride));
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i + 1);
  std::vector<PanelCopy<kAlongK, kExtent, kBlockK, kPiece, kThreads>> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back(FloatSource{memory.data(), ld, stride}, extent, depth, first_outer, first_k, batch, thread);

  for (int k_first = first_k; k_first < depth + steps; k_first += steps) {
    std::vector<float> tile(kExtent * kBlockK);
    std::vector<int> written(tile.size());
    for (auto& thread : threads) {
      thread.next(0, steps, [&](unsigned to, const char* from, bool exists) {
        ASSERT_TRUE(to % kPiece == 0 && to / 4 + kPiece / 4 <= tile.size());
        for (unsigned i = 0; i < kPiece / 4; ++i) ++written[to / 4 + i];
        if (!exists) return;
        const auto at = reinterpret_cast<const float*>(from) - memory.data() - static_cast<std::ptrdiff_t>(stride);
        ASSERT_TRUE(at >= 0 && at < stride);
        ASSERT_LE(at % ld + kPiece / 4, kAlongK ? depth : extent) << "reads behind a line";
        std::memcpy(tile.data() + to / 4, from, kPiece);
      });
    }
    for (const int times : written) ASSERT_EQ(times, 1);
    for (int o = 0; o < kExtent; ++o) {
      for (int k = 0; k < kBlockK; ++k) {
        const int outer = first_outer + o, step = k_first + k;
        const bool exists = outer < extent && step < depth;
        const int at = stride + (kAlongK ? outer * ld + step : step * ld + outer);
        ASSERT_EQ(tile[static_cast<std::size_t>(place(kAlongK, kExtent, o, k))],
                  exists ? memory[static_cast<std::size_t>(at)] : 0)
            << "outer " << outer << ", k " << step;
      }
    }
  }
}

template <bool kAlongK, int kExtent, int kPiece, int kThreads>
void expect_tiles_copied() {
  SCOPED_TRACE(testing::Message() << "along K " << kAlongK << ", tile of " << kExtent << ", pieces of " << kPiece
                                  << " bytes, " << kThreads << " threads");
  constexpr int kUnit = kPiece / 4;  // odd multiples of it, so that no larger piece divides them
  for (const int padding : {0, 3 * kUnit}) {
    expect_copied<kAlongK, kExtent, kPiece, kThreads>(kExtent + 5 * kUnit, 35 * kUnit, padding, 0, 0, 16);
    expect_copied<kAlongK, kExtent, kPiece, kThreads>(kExtent + 5 * kUnit, 35 * kUnit, padding, kExtent, 16, 32);
  }
}

template <bool kAlongK, int kPiece, int kThreads>
void expect_extents_copied() {
  expect_tiles_copied<kAlongK, 16, kPiece, kThreads>();
  expect_tiles_copied<kAlongK, 32, kPiece, kThreads>();
  expect_tiles_copied<kAlongK, 96, kPiece, kThreads>();
  expect_tiles_copied<kAlongK, 128, kPiece, kThreads>();
  expect_tiles_copied<kAlongK, 192, kPiece, kThreads>();
  expect_tiles_copied<kAlongK, 256, kPiece, kThreads>();
}

template <bool kAlongK, int kPiece>
void expect_all_copied() {
  expect_extents_copied<kAlongK, kPiece, 32>();
  expect_extents_copied<kAlongK, kPiece, 64>();
  expect_extents_copied<kAlongK, kPiece, 128>();
}

TEST(PanelCopy, LinesAlongDLieOneStepOfKAfterTheOther) {
  expect_all_copied<false, 8>();
  expect_all_copied<false, 4>();
}

TEST(PanelCopy, LinesAlongKLieAsTmaSwizzlesThem) {
  expect_all_copied<true, 8>();
  expect_all_copied<true, 4>();
}

template <bool kAlongK>
int pieces_of_a_long_line() {
  constexpr int kLongest = 0x3fffffff;
  const float first = 0;
  PanelCopy<kAlongK, 32, kBlockK, 4, 128> thread({&first, kLongest, 0}, kAlongK ? 1 : kLongest, kAlongK ? kLongest : 1,
                                                 0, 0, 0, 0);
  int found = 0;
  thread.next(0, kBlockK, [&](unsigned, const char*, bool exists) { found += exists ? 1 : 0; });
  return found;
}

TEST(PanelCopy, LinesMayHaveAsManyFloatsAsALaunchTakes) {
  EXPECT_EQ(pieces_of_a_long_line<false>(), 1);
  EXPECT_EQ(pieces_of_a_long_line<true>(), 1);
}

}  // namespace
}  // namespace pgtune
