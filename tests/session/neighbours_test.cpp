// SPDX-License-Identifier: MIT
#include "tuner/session/answer/session_notes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pgtune::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Clocks of one group around `mhz`, `scatter_mhz` up and down in turn, with as many others at work.
void add(std::vector<ClockBeside>& clocks, int group, int busy, double mhz, int count, double scatter_mhz = 5) {
  for (int i = 0; i < count; ++i)
    clocks.push_back({group, busy, (mhz + (i % 2 == 0 ? scatter_mhz : -scatter_mhz)) * 1e6});
}

TEST(Neighbours, AClockThatFallsWithThemIsNoted) {
  std::vector<ClockBeside> clocks;
  add(clocks, 0, 3, 1470, 8);
  add(clocks, 0, 0, 1500, 8);
  const auto shift = neighbour_shift(clocks);
  ASSERT_TRUE(shift);
  EXPECT_NEAR(shift->relative, -0.02, 1e-4);
  EXPECT_THAT(neighbour_notes(clocks),
              ElementsAre(HasSubstr("2.0 % lower while 3 other GPUs of the machine worked than while none did")));
}

TEST(Neighbours, ALevelOfItsOwnHasEachGroup) {
  std::vector<ClockBeside> clocks;  // the second problem draws more power, and more GPUs were busy by then
  add(clocks, 0, 0, 1900, 10);
  add(clocks, 1, 3, 1500, 10);
  EXPECT_FALSE(neighbour_shift(clocks));
  add(clocks, 2, 1, 1700, 10);
  add(clocks, 2, 2, 1660, 10);
  const auto shift = neighbour_shift(clocks);
  ASSERT_TRUE(shift);
  EXPECT_EQ(shift->most, 3);
  EXPECT_NEAR(shift->relative, -0.069, 1e-3) << "2.35 % for each other GPU";
}

TEST(Neighbours, WhatTheyDoNotExplainIsNotTheirs) {
  std::vector<ClockBeside> clocks;
  add(clocks, 0, 0, 1500, 8);
  add(clocks, 0, 3, 1490, 8);
  EXPECT_THAT(neighbour_notes(clocks), IsEmpty()) << "less than a percent";
  clocks.clear();
  add(clocks, 0, 0, 1500, 8, 60);
  add(clocks, 0, 3, 1470, 8, 60);
  EXPECT_THAT(neighbour_notes(clocks), IsEmpty()) << "within what scatters anyway";
  clocks.clear();
  add(clocks, 0, 0, 1470, 8);
  add(clocks, 0, 3, 1500, 8);
  EXPECT_THAT(neighbour_notes(clocks), IsEmpty()) << "the other way round";
  clocks.clear();
  add(clocks, 0, 0, 1500, 4);
  add(clocks, 0, 3, 1470, 4);
  EXPECT_THAT(neighbour_notes(clocks), IsEmpty()) << "too few";
  EXPECT_THAT(neighbour_notes({}), IsEmpty());
}

}  // namespace
}  // namespace pgtune::session
