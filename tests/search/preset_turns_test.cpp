// SPDX-License-Identifier: MIT
#include "tuner/search/preset_turns.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace pgtune::search {
namespace {

constexpr std::size_t kInPreset = 0, kOther = 1;

/// The parts of the first turns, which are the presets'.
PresetTurns after_first(PresetTurns turns) {
  for (std::size_t i = 0; i < PresetTurns::kFirst; ++i) {
    EXPECT_TRUE(turns.is_presets_turn());
    turns.propose();
  }
  return turns;
}

/// The parts of the next eight turns.
std::string eight(PresetTurns turns) {
  turns = after_first(std::move(turns));
  std::string out;
  for (int i = 0; i < 8; ++i) {
    out += turns.is_presets_turn() ? 'p' : 'o';
    turns.propose();
  }
  return out;
}

/// After six variants of either.
PresetTurns after_six(double preset, double other, std::size_t of_preset = PresetTurns::kLeast) {
  PresetTurns turns({true, false});
  for (std::size_t i = 0; i < PresetTurns::kLeast; ++i) {
    if (i < of_preset) turns.report(kInPreset, preset);
    turns.report(kOther, other);
  }
  return turns;
}

TEST(PresetTurns, AlternateAfterAFewOfThePresets) { EXPECT_EQ(eight(PresetTurns({true, false})), "popopopo"); }

TEST(PresetTurns, WhoeverLiesBehindHasEveryFourth) {
  EXPECT_EQ(eight(after_six(0, 0.1)), "pppopppo");
  EXPECT_EQ(eight(after_six(0.1, 0)), "ooopooop");
}

TEST(PresetTurns, AreEvenWhileNobodyLiesBehind) {
  EXPECT_EQ(eight(after_six(0.1, 0.12)), "popopopo") << "as good as the same";
  EXPECT_EQ(eight(after_six(0, PresetTurns::kBehind)), "popopopo") << "exactly as far as counts as the same";
  EXPECT_EQ(eight(after_six(PresetTurns::kBehind, 0)), "popopopo");
  EXPECT_EQ(eight(after_six(0.1, 0, PresetTurns::kLeast - 1)), "popopopo") << "little is known of the presets";
  PresetTurns turns({true, false});
  for (std::size_t i = 0; i < PresetTurns::kLeast; ++i) turns.report(kInPreset, 0);
  for (std::size_t i = 1; i < PresetTurns::kLeast; ++i) turns.report(kOther, 0.1);
  EXPECT_EQ(eight(turns), "popopopo") << "little is known of the others";
}

TEST(PresetTurns, CountTheFastestOfEither) {
  PresetTurns turns = after_six(0.5, 0);
  turns.report(kInPreset, 0);
  turns.report(kInPreset, 0.7);
  EXPECT_EQ(eight(turns), "popopopo");
}

TEST(PresetTurns, AreThePresetsWhereTheyHoldAll) {
  PresetTurns turns({});
  EXPECT_TRUE(turns.in_preset(7));
  for (std::size_t i = 0; i < 2 * PresetTurns::kLeast; ++i) turns.report(i, 0);
  EXPECT_EQ(eight(turns), "pppppppp");
}

}  // namespace
}  // namespace pgtune::search
