// SPDX-License-Identifier: MIT
#include "tuner/device/recorded_blocks.hpp"

#include <gmock/gmock.h>

namespace pgtune::device {
namespace {

using testing::ElementsAre;

Block block(Stage stage, int round, double time_s, int position = 0) {
  return {stage, round, position, 10, time_s, 1.7e9};
}

std::vector<Block> blocks(Stage stage, const std::vector<double>& times_s) {
  std::vector<Block> out;
  for (const double time_s : times_s) out.push_back(block(stage, static_cast<int>(out.size()) + 1, time_s));
  return out;
}

std::vector<Block> operator+(std::vector<Block> a, const std::vector<Block>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Times of the blocks of the first rounds of a stage.
std::vector<double> times(const std::vector<Block>& rounds, const std::vector<Block>& screening, Stage stage,
                          int count = 3, int occurrence = 0) {
  std::vector<double> out;
  for (int round = 1; round <= count; ++round)
    out.push_back(recorded_block(rounds, screening, {stage, round, occurrence}).value().time_s);
  return out;
}

const std::vector<Block> kScreen = {block(Stage::kScreen, 0, 1), block(Stage::kScreen, 0, 2)};
const std::vector<Block> kRace = blocks(Stage::kRace, {11, 12}), kFinal = blocks(Stage::kFinal, {21, 22, 23});

TEST(RecordedBlock, IsOfTheStageAndRoundAskedFor) {
  EXPECT_THAT(times(kFinal + kRace, kScreen, Stage::kRace, 2), ElementsAre(11, 12));
  EXPECT_THAT(times(kFinal + kRace, kScreen, Stage::kFinal), ElementsAre(21, 22, 23));
}

TEST(RecordedBlock, StartsAgainBeyondTheRecordedRounds) {
  EXPECT_THAT(times(kRace, {}, Stage::kRace, 5), ElementsAre(11, 12, 11, 12, 11));
}

TEST(RecordedBlock, OfARaceFallsBackToTheFinalThenToScreening) {
  EXPECT_THAT(times(kFinal, kScreen, Stage::kRace, 4), ElementsAre(21, 22, 23, 21));
  EXPECT_THAT(times({}, kScreen, Stage::kRace), ElementsAre(1, 2, 1));
}

TEST(RecordedBlock, OfAFinalFallsBackToTheRaceThenToScreening) {
  EXPECT_THAT(times(kRace, kScreen, Stage::kFinal), ElementsAre(11, 12, 11));
  EXPECT_THAT(times({}, kScreen, Stage::kFinal), ElementsAre(1, 2, 1));
}

TEST(RecordedBlock, OfAFloorIsByRoundAndOrderOfPositions) {
  // As saved: the first contender's blocks, then the second's.
  const std::vector<Block> floor = {block(Stage::kFloor, 1, 31, 0), block(Stage::kFloor, 2, 34, 1),
                                    block(Stage::kFloor, 1, 32, 1), block(Stage::kFloor, 2, 33, 0)};
  EXPECT_THAT(times(floor + kFinal, kScreen, Stage::kFloor, 3, 0), ElementsAre(31, 33, 31));
  EXPECT_THAT(times(floor + kFinal, kScreen, Stage::kFloor, 3, 1), ElementsAre(32, 34, 32));
}

TEST(RecordedBlock, OfAFloorThatWasNotRecordedIsTheNextRoundOfTheFinalElseOfTheRace) {
  EXPECT_THAT(times(kRace + kFinal, {}, Stage::kFloor, 4, 0), ElementsAre(21, 22, 23, 21));
  EXPECT_THAT(times(kRace + kFinal, {}, Stage::kFloor, 4, 1), ElementsAre(22, 23, 21, 22));
  EXPECT_THAT(times(kRace, kScreen, Stage::kFloor, 2, 1), ElementsAre(12, 11));
}

TEST(RecordedBlock, OfAFloorIsNoFallbackForOthers) {
  EXPECT_FALSE(recorded_block({block(Stage::kFloor, 1, 31)}, {}, {Stage::kFinal, 1, 0}).has_value());
}

TEST(RecordedBlock, OfRoundsThatDoNotBeginAtOneStartAgainToo) {
  const std::vector<Block> late = {block(Stage::kRace, 5, 15), block(Stage::kRace, 6, 16)};
  EXPECT_THAT(times(late, {}, Stage::kRace, 6), ElementsAre(15, 16, 15, 16, 15, 16));
}

TEST(RecordedBlock, OfNothingIsNothing) { EXPECT_FALSE(recorded_block({}, {}, {}).has_value()); }

}  // namespace
}  // namespace pgtune::device
