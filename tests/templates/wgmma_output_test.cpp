// SPDX-License-Identifier: MIT
// What the threads of gemm_wgmma store directly: every element of the product that lies in D, once, as alpha times its
// sum plus beta times C, and nothing else, for slices of any multiple of 8 columns.
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "tests/templates/on_host.hpp"

// What the template hands on: float32, no epilogue. Labels are numbers other than 0.
#define DTYPE 1
#define LABEL_int8 2
#define HAS_BIAS 0
#define BIAS_PAIRS 0
#define ACTIVATION 0
#define LABEL_relu 1
#define LABEL_gelu 2
#define LABEL_silu 3
struct float2 {
  float x, y;
};
inline float2 make_float2(float x, float y) { return {x, y}; }
inline void __syncwarp() {}
// The lane is an instruction's answer on a GPU, and here the one whose turn it is.
#define lane_index lane_index_of_gpu
#include "templates/device/ptx/special_registers.cuh"
#undef lane_index
namespace pgtune {
static int lane_of_host = 0;
inline int lane_index() { return lane_of_host; }
}  // namespace pgtune
#include "templates/device/epilogue/wgmma_output.cuh"

namespace pgtune {
namespace {

struct Corner {
  int row, column;  ///< of the product, where the warp's part starts
};

/// Has a warp store its 16 rows and kColumns columns of a product whose D has `rows` and `columns`.
template <bool kSwapped, int kApart, bool kPairs, int kColumns>
void expect_stored(int rows, int columns, Corner from, float beta) {
  SCOPED_TRACE(testing::Message() << kColumns << " columns, swapped " << kSwapped << ", rows " << kApart << " apart, D "
                                  << rows << " x " << columns << ", beta " << beta);
  using Output = WgmmaOutput<kSwapped, 4, Type16::kBf16, kPairs, false, false, 1, kColumns, kSwapped ? 8 : 16,
                             kSwapped ? 8 : 16, kSwapped ? 64 : 128, 2, kApart>;
  const int ld = columns + (kPairs ? columns % 2 + 2 : 3), batch = 1;
  const long long stride = static_cast<long long>(rows + 1) * ld;
  std::vector<float> c(static_cast<std::size_t>(2 * stride)), d(c.size(), -7.0f);
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = static_cast<float>(i % 97);
  const auto sum = [](int row, int column) { return static_cast<float>(row * 1000 + column); };

  const Destination to{nullptr, c.data(), d.data(), ld, stride, rows, columns, 2.0f, beta, nullptr};
  for (int lane = 0; lane < 32; ++lane) {
    float acc[kColumns / 2];
    for (int i = 0; i < kColumns / 2; ++i) {
      const int half = i / 2 % 2, row = kApart == 8 ? lane / 4 + half * 8 : lane / 4 * 2 + half;
      acc[i] = sum(from.row + row, from.column + i / 4 * 8 + lane % 4 * 2 + i % 2);
    }
    lane_of_host = lane;
    Output::template write<Store::kDirect>(acc, to, from.row, from.column, batch, 0, 0, 0);
  }

  std::vector<float> expected(d.size(), -7.0f);
  for (int row = from.row; row < from.row + 16; ++row) {
    for (int column = from.column; column < from.column + kColumns; ++column) {
      const int row_of_d = kSwapped ? column : row, column_of_d = kSwapped ? row : column;
      if (row_of_d >= rows || column_of_d >= columns) continue;
      const auto at = static_cast<std::size_t>(batch * stride + static_cast<long long>(row_of_d) * ld + column_of_d);
      expected[at] = 2.0f * sum(row, column) + (beta == 0.0f ? 0.0f : beta * c[at]);
    }
  }
  EXPECT_EQ(d, expected);
}

template <bool kSwapped, int kApart, bool kPairs, int kColumns>
void expect_stored_everywhere() {
  for (const float beta : {0.0f, -3.0f}) {
    // Inside of D, across its last row and column, and behind them.
    expect_stored<kSwapped, kApart, kPairs, kColumns>(300, 300, {32, 64}, beta);
    for (const int missing : {1, 2, 7, 9}) {
      const int along = 32 + 16 - missing, across = 64 + kColumns - missing;
      expect_stored<kSwapped, kApart, kPairs, kColumns>(kSwapped ? across : along, kSwapped ? along : across, {32, 64},
                                                        beta);
    }
    expect_stored<kSwapped, kApart, kPairs, kColumns>(20, 20, {32, 64}, beta);
  }
}

template <int... kColumns>
void expect_all_stored() {
  (expect_stored_everywhere<false, 8, true, kColumns>(), ...);
  (expect_stored_everywhere<false, 8, false, kColumns>(), ...);
  (expect_stored_everywhere<false, 1, false, kColumns>(), ...);
  (expect_stored_everywhere<true, 8, false, kColumns>(), ...);
  (expect_stored_everywhere<true, 1, true, kColumns>(), ...);
}

TEST(WgmmaOutput, ThreadsStoreWholeInstructions) { expect_all_stored<8, 16, 32, 96, 128, 208>(); }
TEST(WgmmaOutput, ThreadsStoreSlicesOfAnOddNumberOfEightColumns) { expect_all_stored<24, 40, 56, 120>(); }

}  // namespace
}  // namespace pgtune
