// SPDX-License-Identifier: MIT
#include "tuner/device/replay_device.hpp"

#include <gmock/gmock.h>

namespace pgtune::device {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

Problem problem(const char* shape) { return with_default_strides(*parse_shape(shape)).value(); }
Variant variant(std::int64_t tile) { return {"sgemm_simt", {{"BM", tile}}}; }
std::string name(std::int64_t tile) { return "sgemm_simt/" + variant(tile).key(); }

EnergyWindow energy(double energy_j) {
  EnergyWindow window;
  window.energy_j = energy_j;
  return window;
}

Sample recorded_sample(Stage stage, int round, double time_s) { return {stage, round, 0, 10, time_s, 1.7e9}; }

RecordedVariant good(double time_s) {
  RecordedVariant recorded;
  recorded.build.cubin_hash = "abc";
  recorded.build.cubin_path = "/somewhere/else.cubin";
  recorded.build.registers = 100;
  recorded.trial.samples = {recorded_sample(Stage::kScreen, 0, time_s), recorded_sample(Stage::kScreen, 0, 2 * time_s)};
  return recorded;
}

RecordedVariant bad(OutcomeKind kind, const std::string& cubin_hash) {
  RecordedVariant recorded;
  recorded.trial.outcome = {kind, "recorded reason"};
  recorded.build.cubin_hash = cubin_hash;
  return recorded;
}

protocol::BuiltContender built(std::int64_t tile) { return protocol::BuiltVariant{variant(tile), {}, {}}; }

class ReplayDeviceTest : public testing::Test {
 protected:
  ReplayDeviceTest() : device_(recording()) { EXPECT_TRUE(device_.prepare({problem("512x512x512"), {}})); }

  static Recording recording() {
    Recording recording;
    recording.origin = "test recording";
    recording.device.name = "Recorded GPU";
    RecordedProblem recorded;
    recorded.problem = problem("512x512x512");
    recorded.baseline.report.algorithms = {{0, "first", 0, 7.0, 0}, {1, "best", 0, 6.0, 0}};
    recorded.baseline.report.best = 1;
    recorded.baseline.rounds[1] = {recorded_sample(Stage::kFinal, 1, 61), recorded_sample(Stage::kFinal, 2, 62)};
    recorded.baseline.energy[1] = {energy(600), energy(601), energy(602)};
    recorded.idle_energy = {energy(82)};
    recorded.variants[name(16)] = good(1);
    recorded.variants[name(16)].rounds = {recorded_sample(Stage::kFinal, 1, 11), recorded_sample(Stage::kFinal, 2, 12),
                                          recorded_sample(Stage::kFinal, 3, 13)};
    recorded.variants[name(16)].energy = {energy(500)};
    recorded.variants[name(32)] = good(2);
    recorded.variants[name(48)] = bad(OutcomeKind::kCompileFailed, "");
    recorded.variants[name(64)] = bad(OutcomeKind::kCrashed, "");
    recorded.variants[name(80)] = bad(OutcomeKind::kCrashed, "abc");
    recorded.variants[name(96)] = bad(OutcomeKind::kWrongResult, "abc");
    recording.problems = {recorded, recorded, recorded};
    recording.problems[1].conditions.regime = Regime::kBurst;
    recording.problems[1].baseline.report.best = 0;
    recording.problems[2].problem = problem("64x64x64");
    return recording;
  }

  protocol::BuildDone build(std::int64_t tile) {
    device_.submit_build({1, variant(tile), {}, {}, "sm_90a"});
    return std::get<protocol::BuildDone>(device_.wait(milliseconds(0)).value().at(0));
  }
  TrialReport trial(std::int64_t tile) {
    device_.submit_trial({1, {variant(tile), {}, {}}, 0});
    return std::get<protocol::TrialDone>(device_.wait(milliseconds(0)).value().at(0)).report;
  }
  /// Times of these contenders' samples in a round; -1 where there is none.
  std::vector<double> round_times(int round, const std::vector<protocol::BuiltContender>& contenders,
                                  Stage stage = Stage::kFinal) {
    protocol::RoundRequest request{contenders, {}, round, stage};
    for (int index = static_cast<int>(contenders.size()) - 1; index >= 0; --index) request.order.push_back(index);
    const protocol::RoundReport report = device_.run_round(request).value();
    std::vector<double> times;
    for (std::size_t index = 0; index < report.samples.size(); ++index) {
      times.push_back(report.samples[index] ? report.samples[index]->time_s : -1);
      if (!report.samples[index]) continue;
      EXPECT_EQ(report.samples[index]->round, round);
      EXPECT_EQ(report.samples[index]->stage, stage);
      EXPECT_EQ(report.samples[index]->position, static_cast<int>(report.samples.size() - 1 - index));
    }
    return times;
  }

  ReplayDevice device_;
};

TEST_F(ReplayDeviceTest, SaysThatItIsAReplayOfTheRecordedGpu) {
  EXPECT_EQ(device_.source(), Source::kReplay);
  EXPECT_EQ(device_.info().name, "Recorded GPU");
  EXPECT_EQ(device_.prepare({problem("512x512x512"), {}}).value().best, 1);
}

TEST(ReplayDevice, KnowsWhichVariantsOfAProblemWereRecordedUnderWhateverConditions) {
  Recording recording;
  RecordedProblem sustained, burst, other;
  sustained.problem = burst.problem = problem("512x512x512");
  burst.conditions.regime = Regime::kBurst;
  other.problem = problem("64x64x64");
  const auto record = [](RecordedProblem& recorded, std::int64_t tile) {
    recorded.variants[name(tile)] = good(1);
    recorded.variants[name(tile)].variant = variant(tile);
  };
  record(sustained, 16);
  record(burst, 32);
  record(other, 48);
  sustained.variants["tiny/of another time"] = good(1);
  recording.problems = {sustained, burst, other};
  const ReplayDevice device(std::move(recording));
  EXPECT_THAT(device.recorded_variants(problem("512x512x512")), testing::ElementsAre(variant(16), variant(32)));
  EXPECT_THAT(device.recorded_variants(problem("1x1x1")), testing::IsEmpty());
}

TEST_F(ReplayDeviceTest, AProblemThatWasNotRecordedListsThoseThatWere) {
  const auto baseline = device_.prepare({problem("100x100x100"), {}});
  ASSERT_FALSE(baseline);
  EXPECT_EQ(baseline.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(baseline.error().text(), AllOf(HasSubstr("100x100x100"), HasSubstr("test recording"),
                                             HasSubstr("512x512x512"), HasSubstr("64x64x64")));
}

TEST_F(ReplayDeviceTest, AnswersUnderTheConditionsAskedForOnly) {
  Conditions burst, warm;
  burst.regime = Regime::kBurst;
  warm.l2 = L2State::kWarm;
  EXPECT_EQ(device_.prepare({problem("512x512x512"), burst}).value().best, 0);
  const auto baseline = device_.prepare({problem("512x512x512"), warm});
  ASSERT_FALSE(baseline);
  EXPECT_EQ(baseline.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(baseline.error().text(),
              AllOf(HasSubstr("512x512x512"), HasSubstr("'sustained warm uniform:20231107 observed'"),
                    HasSubstr("'sustained rotated uniform:20231107 observed'"),
                    HasSubstr("'burst rotated uniform:20231107 observed'"), HasSubstr("--regime")));
}

TEST_F(ReplayDeviceTest, BuildsAreTheRecordedOnes) {
  const protocol::BuildDone done = build(16);
  EXPECT_EQ(done.outcome.kind, OutcomeKind::kOk);
  EXPECT_EQ(done.build.registers, 100);
  EXPECT_TRUE(done.build.cubin_path.empty());
}

TEST_F(ReplayDeviceTest, WhatFailedBeforeItHadABuildFailsThereAgain) {
  EXPECT_EQ(build(48).outcome, (Outcome{OutcomeKind::kCompileFailed, "recorded reason"}));
  EXPECT_EQ(build(64).outcome.kind, OutcomeKind::kCrashed);
  EXPECT_EQ(build(1).outcome.kind, OutcomeKind::kNotRecorded);
  EXPECT_FALSE(build(1).outcome.reason.empty());
}

TEST_F(ReplayDeviceTest, WhatFailedOnTheGpuFailsInTheTrialAgain) {
  EXPECT_EQ(build(80).outcome.kind, OutcomeKind::kOk);
  EXPECT_EQ(trial(80).outcome, (Outcome{OutcomeKind::kCrashed, "recorded reason"}));
  EXPECT_EQ(trial(96).outcome.kind, OutcomeKind::kWrongResult);
  EXPECT_EQ(trial(16).samples.size(), 2U);
  EXPECT_EQ(trial(1).outcome.kind, OutcomeKind::kNotRecorded);
}

TEST_F(ReplayDeviceTest, EventsComeInTheOrderOfSubmissionAndOnce) {
  device_.submit_build({1, variant(32), {}, {}, "sm_90a"});
  device_.submit_trial({2, {variant(16), {}, {}}, 0});
  device_.submit_build({3, variant(16), {}, {}, "sm_90a"});
  const auto events = device_.wait(milliseconds(0)).value();
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(std::get<protocol::BuildDone>(events[0]).id, 1);
  EXPECT_EQ(std::get<protocol::TrialDone>(events[1]).id, 2);
  EXPECT_EQ(std::get<protocol::BuildDone>(events[2]).id, 3);
  EXPECT_TRUE(device_.wait(milliseconds(0)).value().empty());
}

TEST_F(ReplayDeviceTest, RoundsReplayTheRecordedOnes) {
  const protocol::BuiltContender first = built(16), best_baseline = BaselineAlgorithm{1};
  EXPECT_EQ(round_times(1, {first, best_baseline}), (std::vector<double>{11, 61}));
  EXPECT_EQ(round_times(2, {first, best_baseline}), (std::vector<double>{12, 62}));
}

TEST_F(ReplayDeviceTest, WhatWasNotRecordedInAStageOrRoundGetsAnOutcome) {
  const protocol::BuiltContender finalist = built(16), screened = built(32), baseline = BaselineAlgorithm{1};
  EXPECT_EQ(round_times(3, {finalist, baseline}), (std::vector<double>{13, -1}));
  EXPECT_EQ(round_times(4, {finalist, baseline}), (std::vector<double>{-1, -1}));
  EXPECT_EQ(round_times(1, {finalist, baseline}, Stage::kRace), (std::vector<double>{-1, -1}));
  EXPECT_EQ(round_times(1, {finalist, screened, baseline}), (std::vector<double>{11, -1, 61}));
  EXPECT_EQ(round_times(1, {screened, BaselineAlgorithm{0}}), (std::vector<double>{-1, -1}));
  EXPECT_EQ(round_times(1, {baseline, baseline}, Stage::kFloor), (std::vector<double>{-1, -1}));
  const protocol::RoundReport report = device_.run_round({{finalist, screened}, {0, 1}, 1}).value();
  EXPECT_EQ(report.outcomes.at(1).kind, OutcomeKind::kNotRecorded);
  EXPECT_THAT(report.outcomes.at(1).reason, HasSubstr(name(32) + " in round 1 of the final is not in the recording"));
}

TEST_F(ReplayDeviceTest, KnowsHowManyRoundsOfAStageWereRecorded) {
  EXPECT_EQ(device_.recorded_rounds(Stage::kFinal), 3);
  EXPECT_EQ(device_.recorded_rounds(Stage::kConfirm), 0);
  EXPECT_EQ(ReplayDevice(recording()).recorded_rounds(Stage::kFinal), 0) << "of no problem";
}

TEST_F(ReplayDeviceTest, KnowsWhoWasInTheRoundsOfAStage) {
  EXPECT_TRUE(device_.is_recorded(Stage::kFinal, variant(16)));
  EXPECT_TRUE(device_.is_recorded(Stage::kFinal, BaselineAlgorithm{1}));
  EXPECT_FALSE(device_.is_recorded(Stage::kRace, variant(16)));
  EXPECT_FALSE(device_.is_recorded(Stage::kFinal, variant(32)));
  EXPECT_FALSE(device_.is_recorded(Stage::kFinal, BaselineAlgorithm{0}));
}

TEST_F(ReplayDeviceTest, SamplesKeepWhatWasMeasuredOfThem) {
  Recording recorded = recording();
  Sample& sample = recorded.problems[0].variants[name(16)].rounds[1];
  sample.graph = true;
  sample.temperature_c = 61;
  sample.power_cap_s = 0.5;
  sample.thermal_s = 0;
  ReplayDevice device(recorded);
  ASSERT_TRUE(device.prepare({problem("512x512x512"), {}}));
  const protocol::RoundReport report = device.run_round({{built(16)}, {0}, 2, Stage::kFinal}).value();
  EXPECT_EQ(report.samples.at(0), sample);
}

TEST_F(ReplayDeviceTest, TheBaselineAgainstItselfGetsTheTwoSamplesOfARound) {
  Recording recorded = recording();
  Sample second = recorded_sample(Stage::kFloor, 1, 72);
  second.position = 1;
  recorded.problems[0].baseline.rounds[1] = {second, recorded_sample(Stage::kFloor, 1, 71)};
  ReplayDevice device(recorded);
  ASSERT_TRUE(device.prepare({problem("512x512x512"), {}}));
  const protocol::BuiltContender baseline = BaselineAlgorithm{1};
  const protocol::RoundReport report = device.run_round({{baseline, baseline}, {1, 0}, 1, Stage::kFloor}).value();
  EXPECT_EQ(report.samples.at(1)->time_s, 71) << "it is first in the order";
  EXPECT_EQ(report.samples.at(0)->time_s, 72);
}

TEST_F(ReplayDeviceTest, EnergyIsTheRecordedWindow) {
  const auto window_j = [&](const std::optional<protocol::BuiltContender>& contender, int index) {
    protocol::EnergyRequest request;
    request.contender = contender;
    request.index = index;
    return device_.measure_energy(request).value().energy_j;
  };
  EXPECT_EQ(window_j(std::nullopt, 0), 82);
  EXPECT_EQ(window_j(built(16), 0), 500);
  EXPECT_EQ(window_j(BaselineAlgorithm{1}, 1), 601);
  EXPECT_EQ(window_j(BaselineAlgorithm{1}, 2), 602);
}

TEST_F(ReplayDeviceTest, WhatWasNotMeasuredIsAnEnvironmentError) {
  for (const protocol::BuiltContender& contender :
       std::vector<protocol::BuiltContender>{built(32), built(1), BaselineAlgorithm{0}}) {
    protocol::EnergyRequest request;
    request.contender = contender;
    const auto window = device_.measure_energy(request);
    ASSERT_FALSE(window);
    EXPECT_EQ(window.error().kind, ErrorKind::kEnvironment);
    EXPECT_THAT(window.error().text(), AllOf(HasSubstr("test recording"), HasSubstr("--power")));
  }
  protocol::EnergyRequest second;
  second.contender = built(16);
  second.index = 1;
  EXPECT_FALSE(device_.measure_energy(second)) << "it was measured once";
  const auto ceilings = device_.measure_ceilings();
  ASSERT_FALSE(ceilings);
  EXPECT_EQ(ceilings.error().kind, ErrorKind::kEnvironment);
  Recording recorded = recording();
  recorded.ceilings.emplace().dram_bytes_per_s = 4e12;
  EXPECT_EQ(ReplayDevice(recorded).measure_ceilings().value().dram_bytes_per_s, 4e12);
}

TEST_F(ReplayDeviceTest, ContendersThatWereNotRecordedGetAnOutcome) {
  EXPECT_EQ(round_times(1, {built(1), BaselineAlgorithm{9}}), (std::vector<double>{-1, -1}));
  const protocol::RoundReport report = device_.run_round({{built(48)}, {0}, 1}).value();
  EXPECT_EQ(report.outcomes.at(0).kind, OutcomeKind::kNotRecorded);
}

}  // namespace
}  // namespace pgtune::device
