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

/// Times of the samples of the first rounds of a stage; -1 where there is none.
std::vector<double> times(const std::vector<Sample>& recorded, Stage stage, int count, int occurrence = 0) {
  std::vector<double> out;
  for (int round = 1; round <= count; ++round) {
    const auto found = recorded_sample(recorded, {stage, round, occurrence});
    out.push_back(found ? found->time_s : -1);
  }
  return out;
}

const std::vector<Sample> kRace = samples(Stage::kRace, {11, 12}), kFinal = samples(Stage::kFinal, {21, 22, 23});

TEST(RecordedSample, IsOfTheStageAndRoundAskedFor) {
  EXPECT_THAT(times(kFinal + kRace, Stage::kRace, 2), ElementsAre(11, 12));
  EXPECT_THAT(times(kFinal + kRace, Stage::kFinal, 3), ElementsAre(21, 22, 23));
}

TEST(RecordedSample, BeyondTheRecordedRoundsThereIsNone) {
  EXPECT_THAT(times(kFinal + kRace, Stage::kRace, 3), ElementsAre(11, 12, -1));
  EXPECT_THAT(times({sample(Stage::kRace, 5, 15)}, Stage::kRace, 6), ElementsAre(-1, -1, -1, -1, 15, -1));
}

TEST(RecordedSample, NoStageAnswersForAnother) {
  const std::vector<Sample> floor = samples(Stage::kFloor, {31}), screening = {sample(Stage::kScreen, 0, 1)};
  EXPECT_THAT(times(kFinal + floor + screening, Stage::kRace, 1), ElementsAre(-1));
  EXPECT_THAT(times(kRace + floor + screening, Stage::kFinal, 1), ElementsAre(-1));
  EXPECT_THAT(times(kRace + kFinal + screening, Stage::kFloor, 1), ElementsAre(-1));
}

TEST(RecordedSample, OfAFloorIsByRoundAndOrderOfPositions) {
  // As saved: the first contender's samples, then the second's.
  const std::vector<Sample> floor = {sample(Stage::kFloor, 1, 31, 0), sample(Stage::kFloor, 2, 34, 1),
                                     sample(Stage::kFloor, 1, 32, 1), sample(Stage::kFloor, 2, 33, 0)};
  EXPECT_THAT(times(floor + kFinal, Stage::kFloor, 3, 0), ElementsAre(31, 33, -1));
  EXPECT_THAT(times(floor + kFinal, Stage::kFloor, 3, 1), ElementsAre(32, 34, -1));
  EXPECT_THAT(times(floor + kFinal, Stage::kFloor, 1, 2), ElementsAre(-1)) << "a round has no third";
}

TEST(RecordedSample, OfNothingIsNothing) { EXPECT_FALSE(recorded_sample({}, {}).has_value()); }

}  // namespace
}  // namespace pgtune::device
