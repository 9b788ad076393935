// SPDX-License-Identifier: MIT
// When a load counts as settled: a pure function of its lead-in's pieces.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tuner/gpu/measure/sample_timer.hpp"

namespace pgtune::gpu {
namespace {

/// Pieces of a load whose launches approach one microsecond from `start` times it, with a time constant of `lag_s`.
std::vector<SettlingPoint> approach(double up_to_s, double start, double lag_s, const SettlingRule& rule) {
  std::vector<SettlingPoint> points;
  for (double end_s = rule.piece_s; end_s < up_to_s + rule.piece_s / 2; end_s += rule.piece_s)
    points.push_back({end_s, 1e-6 * (1 + (start - 1) * std::exp(-end_s / lag_s))});
  return points;
}

TEST(Settling, NoLoadIsSettledBeforeItsLeastLeadIn) {
  const SettlingRule rule(0.5);
  EXPECT_FALSE(has_settled({}, rule));
  EXPECT_FALSE(has_settled(approach(0.48, 1, 0.1, rule), rule));
  EXPECT_TRUE(has_settled(approach(0.51, 1, 0.1, rule), rule));
}

TEST(Settling, ALoadWhoseTimeStillMovesGoesOnUpToTheMost) {
  const SettlingRule rule(0.5);
  EXPECT_FALSE(has_settled(approach(0.55, 1.1, 0.4, rule), rule));
  EXPECT_FALSE(has_settled(approach(1.15, 1.5, 0.6, rule), rule));
  EXPECT_TRUE(has_settled(approach(1.21, 1.5, 0.6, rule), rule));
}

TEST(Settling, AfterIdlingItGoesOnForSeconds) {
  const SettlingRule rule(0.5);
  const SettlingRule following = rule.after(5e-3);
  EXPECT_TRUE(has_settled(approach(0.51, 1, 0.1, rule), following));
  const SettlingRule rested = rule.after(0.1);
  EXPECT_FALSE(has_settled(approach(1.9, 1, 0.1, rule), rested));
  EXPECT_TRUE(has_settled(approach(2.01, 1, 0.1, rule), rested));
  EXPECT_FALSE(has_settled(approach(2.5, 2, 2, rule), rested));
  EXPECT_TRUE(has_settled(approach(2.71, 2, 2, rule), rested));
}

TEST(Settling, ALongLeadInIsNotShortenedByIdling) {
  const SettlingRule rule(3);
  EXPECT_FALSE(has_settled(approach(2.9, 1, 0.1, rule), rule.after(1)));
  EXPECT_TRUE(has_settled(approach(3.01, 1, 0.1, rule), rule.after(1)));
}

}  // namespace
}  // namespace pgtune::gpu
