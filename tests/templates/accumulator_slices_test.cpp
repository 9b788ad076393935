// SPDX-License-Identifier: MIT
// CTAs that share a tile along K hand each other slices of their accumulators: each slice gets the sum of all, floats
// and integers alike, whatever floats the bits of an integer would be.
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "tests/templates/on_host.hpp"
// After what it needs.
#include "templates/device/epilogue/accumulator_slices.cuh"

namespace pgtune {
namespace {

/// Exchanges slices as the kernels do, in the order of the CTAs.
template <class Slices, class Number>
void expect_sums(const std::vector<Number>& values) {
  constexpr int kSharers = Slices::kSharersOfTile, kInstructions = Slices::kRowsOfTile, kCount = Slices::kOfInstruction;
  std::vector<Number> of_all(static_cast<std::size_t>(kSharers * kInstructions * kCount));
  for (std::size_t i = 0; i < of_all.size(); ++i) of_all[i] = values[i * 7 % values.size()];
  const auto value = [&](int cta, int m, int i) {
    return of_all[static_cast<std::size_t>((cta * kInstructions + m) * kCount + i)];
  };
  typename Slices::Accumulators acc[kSharers];
  for (int cta = 0; cta < kSharers; ++cta) {
    for (int m = 0; m < kInstructions; ++m) {
      for (int i = 0; i < kCount; ++i) acc[cta][m][i] = value(cta, m, i);
    }
  }
  for (int slice = 0; slice < kSharers; ++slice) {
    typename Slices::Slice own;
    Slices::keep(own, acc[slice], slice);
    Slices::template add_parts<kSharers, 4>(own, slice,
                                            [&](int cta, int piece) { return Slices::piece(acc[cta], slice, piece); });
    for (int m = 0; m < kInstructions; ++m) {
      for (int i = 0; i < Slices::kSlice; ++i) {
        Number sum = value(0, m, slice * Slices::kSlice + i);
        for (int cta = 1; cta < kSharers; ++cta) sum += value(cta, m, slice * Slices::kSlice + i);
        ASSERT_EQ(own[m][i], sum) << "slice " << slice << ", " << m << ", " << i;
      }
    }
  }
}

template <int kSharers, int kInstructions, int kCount, class Number>
struct SlicesOf : AccumulatorSlices<kSharers, kInstructions, kCount, Number> {
  static constexpr int kSharersOfTile = kSharers, kRowsOfTile = kInstructions, kOfInstruction = kCount;
};

TEST(AccumulatorSlices, IntegersKeepTheirBits) {
  // As floats: NaNs that are quiet and that signal, numbers too small to be normal, and ordinary ones.
  const std::vector<int> values{1, -1, 0xfff, -0x7fffff, 77, 0x1fffffff, -0x1ffffff0};
  expect_sums<SlicesOf<2, 1, 8, int>>(values);
  expect_sums<SlicesOf<2, 2, 16, int>>(values);
  expect_sums<SlicesOf<4, 2, 64, int>>(values);
  expect_sums<SlicesOf<2, 1, 56, int>>(values);
}

TEST(AccumulatorSlices, FloatsAreAddedInTheOrderOfTheCtas) {
  expect_sums<SlicesOf<8, 1, 32, float>>(std::vector<float>{1.0f, 1e-8f, -3.5f, 1e8f, 0.1f});
  expect_sums<SlicesOf<4, 1, 48, float>>(std::vector<float>{0.1f, 0.2f, 0.3f, 7.0f, 1e-9f});
  expect_sums<SlicesOf<2, 2, 8, float>>(std::vector<float>{0.1f, 0.2f, 0.3f});
}

}  // namespace
}  // namespace pgtune
