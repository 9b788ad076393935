// SPDX-License-Identifier: MIT
#include "tuner/device/recorded_samples.hpp"

#include <gmock/gmock.h>

namespace pgtune::device {
namespace {

using testing::ElementsAre;

Sample sample(Stage stage, int round, double time_s, int position = 0) {
  return {stage, round, position, 10, time_s, 1.7e9};
}

std::vector<Sample> samples(Stage stage, const std::vector<double>& times_s) {
  std::vector<Sample> out;
  for (const double time_s : times_s) out.push_back(sample(stage, static_cast<int>(out.size()) + 1, time_s));
  return out;
}

std::vector<Sample> operator+(std::vector<Sample> a, const std::vector<Sample>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Times of the samples of the first rounds of a stage.
std::vector<double> times(const std::vector<Sample>& rounds, const std::vector<Sample>& screening, Stage stage,
                          int count = 3, int occurrence = 0) {
  std::vector<double> out;
  for (int round = 1; round <= count; ++round)
    out.push_back(recorded_sample(rounds, screening, {stage, round, occurrence}).value().time_s);
  return out;
}

const std::vector<Sample> kScreen = {sample(Stage::kScreen, 0, 1), sample(Stage::kScreen, 0, 2)};
const std::vector<Sample> kRace = samples(Stage::kRace, {11, 12}), kFinal = samples(Stage::kFinal, {21, 22, 23});

TEST(RecordedSample, IsOfTheStageAndRoundAskedFor) {
  EXPECT_THAT(times(kFinal + kRace, kScreen, Stage::kRace, 2), ElementsAre(11, 12));
  EXPECT_THAT(times(kFinal + kRace, kScreen, Stage::kFinal), ElementsAre(21, 22, 23));
}

TEST(RecordedSample, StartsAgainBeyondTheRecordedRounds) {
  EXPECT_THAT(times(kRace, {}, Stage::kRace, 5), ElementsAre(11, 12, 11, 12, 11));
}

TEST(RecordedSample, OfARaceFallsBackToTheFinalThenToScreening) {
  EXPECT_THAT(times(kFinal, kScreen, Stage::kRace, 4), ElementsAre(21, 22, 23, 21));
  EXPECT_THAT(times({}, kScreen, Stage::kRace), ElementsAre(1, 2, 1));
}

TEST(RecordedSample, OfAFinalFallsBackToTheRaceThenToScreening) {
  EXPECT_THAT(times(kRace, kScreen, Stage::kFinal), ElementsAre(11, 12, 11));
  EXPECT_THAT(times({}, kScreen, Stage::kFinal), ElementsAre(1, 2, 1));
}

TEST(RecordedSample, OfAFloorIsByRoundAndOrderOfPositions) {
  // As saved: the first contender's samples, then the second's.
  const std::vector<Sample> floor = {sample(Stage::kFloor, 1, 31, 0), sample(Stage::kFloor, 2, 34, 1),
                                     sample(Stage::kFloor, 1, 32, 1), sample(Stage::kFloor, 2, 33, 0)};
  EXPECT_THAT(times(floor + kFinal, kScreen, Stage::kFloor, 3, 0), ElementsAre(31, 33, 31));
  EXPECT_THAT(times(floor + kFinal, kScreen, Stage::kFloor, 3, 1), ElementsAre(32, 34, 32));
}

TEST(RecordedSample, OfAFloorThatWasNotRecordedIsTheNextRoundOfTheFinalElseOfTheRace) {
  EXPECT_THAT(times(kRace + kFinal, {}, Stage::kFloor, 4, 0), ElementsAre(21, 22, 23, 21));
  EXPECT_THAT(times(kRace + kFinal, {}, Stage::kFloor, 4, 1), ElementsAre(22, 23, 21, 22));
  EXPECT_THAT(times(kRace, kScreen, Stage::kFloor, 2, 1), ElementsAre(12, 11));
}

TEST(RecordedSample, OfAFloorIsNoFallbackForOthers) {
  EXPECT_FALSE(recorded_sample({sample(Stage::kFloor, 1, 31)}, {}, {Stage::kFinal, 1, 0}).has_value());
}

TEST(RecordedSample, OfRoundsThatDoNotBeginAtOneStartAgainToo) {
  const std::vector<Sample> late = {sample(Stage::kRace, 5, 15), sample(Stage::kRace, 6, 16)};
  EXPECT_THAT(times(late, {}, Stage::kRace, 6), ElementsAre(15, 16, 15, 16, 15, 16));
}

TEST(RecordedSample, OfNothingIsNothing) { EXPECT_FALSE(recorded_sample({}, {}, {}).has_value()); }

}  // namespace
}  // namespace pgtune::device
