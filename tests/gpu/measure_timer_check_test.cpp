// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "tuner/gpu/measure/device_info.hpp"

namespace pgtune::gpu {
namespace {

TEST(TimerCheck, StepIsTheSmallestDifferenceOfDifferentReadings) {
  EXPECT_EQ(smallest_step({1064, 1000, 1000, 1032, 1128}), 32U);
  EXPECT_EQ(smallest_step({5, 5, 5}), 0U);
  EXPECT_EQ(smallest_step({}), 0U);
}

}  // namespace
}  // namespace pgtune::gpu
