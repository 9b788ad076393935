// SPDX-License-Identifier: MIT
#include "tuner/session/answer/held.hpp"

#include <gmock/gmock.h>

namespace pgtune::session {
namespace {

constexpr double kTieMargin = 0.003;

RankedVariant row(double ratio, double low, double high) {
  RankedVariant out;
  out.ratio_to_baseline = ratio;
  out.ratio_low = low;
  out.ratio_high = high;
  return out;
}

TEST(Held, IntervalsThatOverlapAgree) {
  const auto report = held(row(1.100, 1.095, 1.105), row(1.104, 1.102, 1.106), kTieMargin);
  EXPECT_EQ(report.held, Held::kHeld);
  EXPECT_EQ(report.sentence, "held: 1.104 (1.102-1.106) of the baseline, stored 1.100 (1.095-1.105)");
}

TEST(Held, AGapInsideTheMarginIsHeldAndOneBeyondItIsNot) {
  EXPECT_EQ(held(row(1, 0.999, 1.001), row(1.005, 1.0039, 1.006), kTieMargin).held, Held::kHeld);
  EXPECT_EQ(held(row(1, 0.999, 1.001), row(1.005, 1.0041, 1.006), kTieMargin).held, Held::kFaster);
  EXPECT_EQ(held(row(1.005, 1.0039, 1.006), row(1, 0.999, 1.001), kTieMargin).held, Held::kHeld);
  EXPECT_EQ(held(row(1.005, 1.0041, 1.006), row(1, 0.999, 1.001), kTieMargin).held, Held::kSlower);
  EXPECT_EQ(held(row(1, 0.999, 1.001), row(1.005, 1.0041, 1.006), 2 * kTieMargin).held, Held::kHeld);
  const RankedVariant low = row(1, 0.999, 1.001), just_at = row(1.005, low.ratio_high * (1 + kTieMargin), 1.006);
  EXPECT_EQ(held(low, just_at, kTieMargin).held, Held::kHeld);
  EXPECT_EQ(held(just_at, low, kTieMargin).held, Held::kHeld);
}

TEST(Held, WideIntervalsProveNothingUnlessTheyAreApart) {
  EXPECT_EQ(held(row(1.10, 1.09, 1.11), row(1.05, 0.95, 1.15), kTieMargin).held, Held::kUnclear);
  EXPECT_EQ(held(row(1.05, 0.95, 1.15), row(1.10, 1.09, 1.11), kTieMargin).held, Held::kUnclear);
  EXPECT_EQ(held(row(1.50, 1.49, 1.51), row(1.05, 0.95, 1.15), kTieMargin).held, Held::kSlower);
}

TEST(Held, WithoutARatioThereIsNothingToCompare) {
  EXPECT_EQ(held(row(0, 0, 0), row(1, 0.999, 1.001), kTieMargin).held, Held::kUnclear);
  EXPECT_THAT(held(row(0, 0, 0), row(1, 0.999, 1.001), kTieMargin).sentence, testing::HasSubstr("stored"));
  for (const RankedVariant& without : {row(0, 0, 0), row(1, 0, 1.001), row(0, 0.999, 1.001)})
    EXPECT_THAT(held(row(1, 0.999, 1.001), without, kTieMargin).sentence, testing::HasSubstr("this run has no ratio"));
}

TEST(Held, SentencesFitATerminal) {
  for (const double scale : {0.05, 1.0, 11.0, 123.0, 1234.0}) {
    const RankedVariant stored = row(scale * 1.1, scale * 1.095, scale * 1.105);
    for (const RankedVariant& measured : {stored, row(scale * 2, scale * 1.99, scale * 2.01), row(scale, scale, scale),
                                          row(scale, scale * 0.5, scale * 2)}) {
      const auto report = held(stored, measured, kTieMargin);
      EXPECT_LE(report.sentence.size(), 80U) << report.sentence;
    }
  }
}

TEST(Held, WhatWasNeverMeasuredIsNew) {
  const HeldReport report = measured_first(row(1.104, 1.102, 1.106));
  EXPECT_EQ(report.held, Held::kNew);
  EXPECT_EQ(report.sentence, "new: 1.104 (1.102-1.106) of the baseline, nothing stored");
  EXPECT_EQ(measured_first(row(0, 0, 0)).held, Held::kNew);
}

}  // namespace
}  // namespace pgtune::session
