// SPDX-License-Identifier: MIT
// Rounds on a GPU: every contender gets a sample of the same duration, a failing one only an outcome.
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <set>
#include <utility>

#include "tests/gpu/measure_device_fixture.hpp"
#include "tuner/gpu/nvml/nvml.hpp"

namespace pgtune::gpu {
namespace {

class Round : public MeasureOnDevice {
 protected:
  [[nodiscard]] protocol::BuiltVariant contender(const Problem& problem, const std::string& fault) {
    return request(problem, fault).built;
  }
};

TEST_F(Round, GivesEachContenderASampleInTheGivenOrder) {
  const Problem problem = make_problem("512x512x512");
  const BaselineReport baseline = prepare(problem);
  protocol::RoundRequest request;
  request.contenders = {contender(problem, ""), contender(problem, "SLOW"), BaselineAlgorithm{baseline.best}};
  request.order = {2, 0, 1};
  for (request.round = 1; request.round <= 3; ++request.round) {
    const auto report = measurer_->round(request);
    ASSERT_TRUE(report) << report.error().text();
    const std::vector<int> positions{1, 2, 0};
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_TRUE(report->samples[i]) << report->outcomes[i].reason;
      const Sample& sample = *report->samples[i];
      EXPECT_EQ(sample.stage, Stage::kFinal);
      EXPECT_EQ(sample.round, request.round);
      EXPECT_EQ(sample.position, positions[i]);
      EXPECT_GT(sample.time_s, 15e-3);
      EXPECT_LT(sample.time_s, 40e-3);
      EXPECT_GT(sample.sm_clock_hz, 0);
      std::cout << "contender " << i << ": " << sample.launches << " launches of " << sample.per_launch_s() * 1e6
                << " us at " << sample.sm_clock_hz * 1e-6 << " MHz\n";
    }
  }
}

TEST_F(Round, TheSameAlgorithmTwiceIsMeasuredTwice) {
  const BaselineReport baseline = prepare(make_problem("1024x1024x1024"));
  protocol::RoundRequest request;
  request.contenders = {BaselineAlgorithm{baseline.first}, BaselineAlgorithm{baseline.first}};
  request.order = {1, 0};
  request.stage = Stage::kFloor;
  request.sample_s = 40e-3;
  static_cast<void>(measurer_->round(request));  // lets the clocks settle
  for (request.round = 1; request.round <= 4; ++request.round) {
    const auto report = measurer_->round(request);
    ASSERT_TRUE(report) << report.error().text();
    for (std::size_t i = 0; i < 2; ++i) {
      ASSERT_TRUE(report->samples[i]) << report->outcomes[i].reason;
      EXPECT_EQ(report->samples[i]->stage, Stage::kFloor);
      EXPECT_EQ(report->samples[i]->position, i == 0 ? 1 : 0);
      EXPECT_GT(report->samples[i]->time_s, 30e-3);
    }
    const double ratio = report->samples[0]->per_launch_s() / report->samples[1]->per_launch_s();
    EXPECT_NEAR(ratio, 1, 0.05);
    std::cout << "A/A ratio " << ratio << "\n";
  }
}

TEST_F(Round, TheSameVariantTwiceIsMeasuredTwice) {
  const Problem problem = make_problem("512x512x512");
  static_cast<void>(prepare(problem));
  protocol::RoundRequest request;
  request.contenders.assign(2, contender(problem, ""));
  request.order = {0, 1};
  static_cast<void>(measurer_->round(request));  // loads, calibrates and lets the clocks settle
  const auto report = measurer_->round(request);
  ASSERT_TRUE(report) << report.error().text();
  ASSERT_TRUE(report->samples[0] && report->samples[1]);
  EXPECT_NEAR(report->samples[0]->per_launch_s() / report->samples[1]->per_launch_s(), 1, 0.05);
}

TEST_F(Round, BurstSamplesAreShortWithAPauseBeforeEach) {
  const Problem problem = make_problem("1024x1024x1024");
  Conditions conditions;
  conditions.regime = Regime::kBurst;
  const BaselineReport baseline = prepare(problem, conditions);
  protocol::RoundRequest request;
  request.contenders = {contender(problem, ""), BaselineAlgorithm{baseline.best}};
  request.order = {0, 1};
  static_cast<void>(measurer_->round(request));  // loads and calibrates
  const auto begin = std::chrono::steady_clock::now();
  const auto report = measurer_->round(request);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_GT(spent.count(), 2 * 50e-3);
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(report->samples[i]) << report->outcomes[i].reason;
    const Sample& sample = *report->samples[i];
    EXPECT_GE(sample.launches, 5);
    EXPECT_GT(sample.time_s, 7e-3);
    EXPECT_LT(sample.time_s, 20e-3);
    std::cout << "burst contender " << i << ": " << sample.per_launch_s() * 1e6 << " us at "
              << sample.sm_clock_hz * 1e-6 << " MHz\n";
  }
}

TEST_F(Round, SamplesCarryWhatNvmlSaysWhereItIsThere) {
  const auto nvml = Nvml::open();
  if (!nvml) GTEST_SKIP() << nvml.error().text();
  const auto gpu = nvml->device(measurer_->info().uuid);
  ASSERT_TRUE(gpu) << gpu.error().text();
  const Problem problem = make_problem("1024x1024x1024");
  const BaselineReport baseline = prepare(problem);
  protocol::RoundRequest request;
  request.contenders = {BaselineAlgorithm{baseline.first}};
  request.order = {0};
  const auto report = measurer_->round(request);
  ASSERT_TRUE(report) << report.error().text();
  ASSERT_TRUE(report->samples[0]);
  const Sample& sample = *report->samples[0];
  const ThrottleTimes times = gpu->throttle_times();
  EXPECT_EQ(sample.temperature_c.has_value(), gpu->temperature_c().has_value());
  EXPECT_EQ(sample.power_cap_s.has_value(), times.power_cap_s.has_value());
  EXPECT_EQ(sample.thermal_s.has_value(), times.thermal_s.has_value());
  if (sample.temperature_c) {
    EXPECT_GT(*sample.temperature_c, 10);
  }
  if (sample.power_cap_s) {
    EXPECT_LE(*sample.power_cap_s, 2 * sample.time_s);
  }

  const TrialReport trial = measurer_->trial(this->request(problem, ""));
  ASSERT_FALSE(trial.samples.empty()) << trial.outcome.reason;
  EXPECT_EQ(trial.samples[0].temperature_c.has_value(), gpu->temperature_c().has_value());
  EXPECT_FALSE(trial.samples[0].power_cap_s);
}

TEST_F(Round, ShortLaunchesComeFromGraphsAndLongOnesDoNot) {
  for (const auto& [shape, graph] : {std::pair{"64x64x64", true}, std::pair{"2048x2048x2048", false}}) {
    const Problem problem = make_problem(shape);
    const BaselineReport baseline = prepare(problem);
    protocol::RoundRequest request;
    request.contenders = {contender(problem, ""), BaselineAlgorithm{baseline.best}};
    request.order = {0, 1};
    const auto report = measurer_->round(request);
    ASSERT_TRUE(report) << report.error().text();
    for (const auto& sample : report->samples) {
      ASSERT_TRUE(sample);
      EXPECT_EQ(sample->graph, graph) << shape;
    }
  }
}

/// Products from below what graphs are for to above it, where each contender's own time would choose differently; the
/// last one's launches are so long that no host falls behind with them.
TEST_F(Round, AllContendersOfAProblemLaunchInOneWay) {
  std::set<bool> ways;
  for (const char* shape :
       {"256x256x256", "384x384x512", "512x512x512", "640x640x512", "768x768x512", "1024x1024x512", "2048x2048x1024"}) {
    const Problem problem = make_problem(shape);
    const BaselineReport baseline = prepare(problem);
    protocol::RoundRequest request;
    request.contenders = {contender(problem, "")};
    for (int i = 0; i < static_cast<int>(baseline.algorithms.size()); ++i)
      request.contenders.push_back(BaselineAlgorithm{i});
    for (int i = 0; i < static_cast<int>(request.contenders.size()); ++i) request.order.push_back(i);
    const auto report = measurer_->round(request);
    ASSERT_TRUE(report) << report.error().text();
    for (std::size_t i = 0; i < report->samples.size(); ++i) {
      ASSERT_TRUE(report->samples[i]) << report->outcomes[i].reason;
      EXPECT_EQ(report->samples[i]->graph, report->samples[0]->graph) << shape << ", contender " << i;
    }
    if (report->samples[0]->graph == baseline.in_graphs) ways.insert(baseline.in_graphs);
  }
  EXPECT_EQ(ways.size(), 2U) << "of one way this shows nothing";
}

TEST_F(Round, AContenderThatCannotBeLaunchedDoesNotStopTheOthers) {
  const Problem problem = make_problem("256x256x256");
  static_cast<void>(prepare(problem));
  protocol::RoundRequest request;
  protocol::BuiltVariant missing = contender(problem, "");
  missing.build.cubin_path += ".missing";
  request.contenders = {missing, contender(problem, "")};
  request.order = {0, 1};
  const auto report = measurer_->round(request);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_FALSE(report->samples[0]);
  EXPECT_EQ(report->outcomes[0].kind, OutcomeKind::kLaunchFailed);
  EXPECT_TRUE(report->samples[1]);
}

TEST_F(Round, AnOrderThatIsNoPermutationIsRefused) {
  const Problem problem = make_problem("64x64x64");
  static_cast<void>(prepare(problem));
  protocol::RoundRequest request;
  request.contenders = {contender(problem, ""), contender(problem, "")};
  request.order = {0, 0};
  EXPECT_FALSE(measurer_->round(request));
}

/// For a profiler: of a variant, of the baseline's algorithms by name, of its best.
TEST_F(Round, LaunchesAnyContenderAlone) {
  const Problem problem = make_problem("512x512x512");
  const BaselineReport baseline = prepare(problem);
  const auto variant = measurer_->launch({.variant = contender(problem, "")});
  EXPECT_EQ(variant.outcome.kind, OutcomeKind::kOk) << variant.outcome.reason;
  EXPECT_EQ(variant.algorithm, "");
  for (int i = 0; i < static_cast<int>(baseline.algorithms.size()); ++i) {
    const auto named = measurer_->launch({.algorithm = baseline.title(i)});
    EXPECT_EQ(named.outcome.kind, OutcomeKind::kOk) << named.outcome.reason;
    EXPECT_EQ(named.algorithm, baseline.title(i));
  }
  EXPECT_EQ(measurer_->launch({}).algorithm, baseline.title(baseline.best));
  const auto unknown = measurer_->launch({.algorithm = "cuBLASLt 1.0: algorithm 1"});
  EXPECT_EQ(unknown.outcome.kind, OutcomeKind::kLaunchFailed);
  EXPECT_FALSE(measurer_->context_lost());
}

}  // namespace
}  // namespace pgtune::gpu
