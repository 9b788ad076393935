// SPDX-License-Identifier: MIT
#include "tuner/model/energy_window.hpp"

#include <gtest/gtest.h>

namespace pgtune {
namespace {

EnergyWindow loaded() {
  EnergyWindow window;
  window.window_s = 5;
  window.energy_j = 3000;
  window.launches = 5000;
  window.per_launch_s = 0.8e-3;
  window.averaged_power_w = 600;
  return window;
}

TEST(EnergyWindow, PowerIsThatOfTheWholeWindow) { EXPECT_DOUBLE_EQ(loaded().power_w(), 600); }

TEST(EnergyWindow, ALaunchNeedsThePowerForAsLongAsItRuns) {
  EXPECT_DOUBLE_EQ(loaded().energy_per_launch_j(), 0.48)
      << "not the window's energy over its launches: gaps are not theirs";
}

TEST(EnergyWindow, WithoutAWindowOrLaunchesThereIsNone) {
  EXPECT_EQ(EnergyWindow{}.power_w(), 0);
  EXPECT_EQ(EnergyWindow{}.energy_per_launch_j(), 0);
  EnergyWindow idle = loaded();
  idle.launches = 0;
  idle.per_launch_s = 0;
  EXPECT_EQ(idle.energy_per_launch_j(), 0);
  EXPECT_DOUBLE_EQ(idle.power_w(), 600);
}

TEST(EnergyWindow, SuspectWhereCounterAndAveragedPowerDifferByMoreThanFivePercent) {
  EnergyWindow window = loaded();
  EXPECT_FALSE(window.suspect());
  window.averaged_power_w = 629;
  EXPECT_FALSE(window.suspect());
  window.averaged_power_w = 631;
  EXPECT_TRUE(window.suspect());
  window.averaged_power_w = 569;
  EXPECT_TRUE(window.suspect());
  window.averaged_power_w = 0;
  EXPECT_FALSE(window.suspect()) << "nothing to compare with";
  window.averaged_power_w = 600;
  window.energy_j = 0;
  EXPECT_TRUE(window.suspect()) << "a counter that stands still under load";
}

}  // namespace
}  // namespace pgtune
