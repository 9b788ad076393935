// SPDX-License-Identifier: MIT
#include "tuner/session/time_estimate.hpp"

#include <gtest/gtest.h>

namespace pgtune::session {
namespace {

TimeEstimate estimate(double build_s, double trial_s) {
  TimeEstimate out(8);
  for (int i = 0; i < 10; ++i) {
    out.build_finished(build_s);
    out.trial_finished(trial_s);
  }
  return out;
}

TEST(TimeEstimate, SaysNothingTooEarly) {
  TimeEstimate early(8);
  EXPECT_FALSE(early.remaining_s(10, 10));
  early.build_finished(1);
  early.trial_finished(1);
  EXPECT_FALSE(early.remaining_s(10, 10));
}

TEST(TimeEstimate, TheSlowerOfCompilingAndTryingDecides) {
  EXPECT_DOUBLE_EQ(estimate(4, 0.1).remaining_s(100, 110).value(), 50);  // eight builds at once
  EXPECT_DOUBLE_EQ(estimate(0.1, 0.2).remaining_s(100, 110).value(), 22);
  EXPECT_DOUBLE_EQ(estimate(4, 0.1).remaining_s(0, 0).value(), 0);
}

TEST(TimeEstimate, FollowsAChangeOfPace) {
  TimeEstimate changing = estimate(0.1, 1);
  for (int i = 0; i < 500; ++i) changing.trial_finished(0.1);
  EXPECT_NEAR(changing.remaining_s(0, 100).value(), 10, 0.1);
}

}  // namespace
}  // namespace pgtune::session
