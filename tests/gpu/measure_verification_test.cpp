// SPDX-License-Identifier: MIT
// What a finalist's verification concludes from times; the rest of it is shown by faults_device_test.cpp.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <set>

#include "tuner/gpu/measure/check/operand_layout.hpp"
#include "tuner/gpu/measure/check/verification.hpp"

namespace pgtune::gpu {
namespace {

/// About `median_s`, evenly within +-`spread` of it.
std::vector<double> times(double median_s, double spread, int count) {
  std::vector<double> out;
  for (int i = 0; i < count; ++i) out.push_back(median_s * (1 + spread * (2.0 * (i * 7 % count) / (count - 1) - 1)));
  return out;
}

TEST(SavedShare, OfALaunchThatDoesLessOverItsResult) {
  EXPECT_NEAR(saved_share(times(100e-6, 0.02, 342), times(13e-6, 0.02, 34)), 0.87, 0.01);
  EXPECT_NEAR(saved_share(times(2.5e-3, 0.01, 342), times(2.2e-3, 0.01, 34)), 0.12, 0.01);
}

TEST(SavedShare, NothingWhereTimesAreAlike) {
  EXPECT_EQ(saved_share(times(100e-6, 0.02, 342), times(100e-6, 0.02, 34)), 0);
  EXPECT_EQ(saved_share(times(100e-6, 0.02, 342), times(97e-6, 0.02, 34)), 0) << "3 %";
  EXPECT_EQ(saved_share(times(100e-6, 0.02, 342), times(120e-6, 0.02, 34)), 0) << "slower";
  EXPECT_EQ(saved_share(times(4e-6, 0.01, 342), times(3.2e-6, 0.01, 34)), 0) << "less than a microsecond";
  EXPECT_EQ(saved_share(times(100e-6, 0.9, 342), times(90e-6, 0.9, 34)), 0) << "lost in the noise";
  EXPECT_EQ(saved_share({}, {}), 0);
}

TEST(Poison, ChangesFromLaunchToLaunchAndIsNoNumber) {
  std::set<std::uint32_t> seen;
  for (std::int64_t launch = 0; launch < 64; ++launch) {
    const std::uint32_t poison = poison_of_launch(launch);
    seen.insert(poison);
    EXPECT_TRUE(std::isnan(std::bit_cast<float>(poison))) << launch;
    for (const std::uint32_t half : {poison & 0xffffU, poison >> 16}) {
      EXPECT_TRUE(std::isnan(std::bit_cast<float>(half << 16))) << "as bfloat16 " << launch;
      EXPECT_GT(half & 0x7fffU, 0x7c00U) << "as float16 " << launch;
    }
  }
  EXPECT_EQ(seen.size(), 64U);
  EXPECT_EQ(poison_of_launch(0), kPoison);
}

}  // namespace
}  // namespace pgtune::gpu
