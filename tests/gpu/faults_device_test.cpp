// SPDX-License-Identifier: MIT
// The faults that only a GPU shows, one by one: what becomes of each, what it costs, and that a variant after the
// restart is timed as before it. Prints the fault table. PGTUNE_FAULTS_SHAPE sets the problem.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>

#include "tests/gpu/faults.hpp"
#include "tests/gpu/with_operation.hpp"
#include "tuner/session/pipeline/search_state.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::gpu {
namespace {

using Clock = std::chrono::steady_clock;
using testing::HasSubstr;

constexpr double kMostDrift = 0.03;  // of a variant's time across a restart
constexpr auto kLongest = std::chrono::seconds(30);

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class FaultsDevice : public testing::Test {
 protected:
  void SetUp() override {
    auto loaded = load_faulty_template();
    ASSERT_TRUE(loaded) << loaded.error().text();
    definition_ = std::move(*loaded);
    auto opened = open_worker(folder_);
    if (!opened) GTEST_SKIP() << "needs a GPU: " << opened.error().text();
    device_ = std::move(*opened);
    const char* const shape = std::getenv("PGTUNE_FAULTS_SHAPE");
    const auto parsed = parse_shape(shape == nullptr ? "4096x4096x4096" : shape).and_then(with_default_strides);
    ASSERT_TRUE(parsed) << parsed.error().text();
    problem_ = *parsed;
    const auto start = Clock::now();
    const auto baseline = device_->prepare({as_sent(problem_), {}});
    ASSERT_TRUE(baseline) << baseline.error().text();
    fmt::print("{} on {}: prepared in {:.2f} s\n", problem_.title(), device_->info().name, seconds_since(start));
  }

  /// The first event, within kLongest.
  protocol::Event event() {
    const auto until = Clock::now() + kLongest;
    while (Clock::now() < until) {
      auto events = device_->wait(std::chrono::milliseconds(100));
      if (!events) throw std::runtime_error(events.error().text());
      if (!events->empty()) return std::move(events->front());
    }
    throw std::runtime_error("nothing came of it");
  }
  void build(std::string_view fault) {
    const Variant variant = faulty_variant(fault);
    device_->submit_build({++last_id_, variant, definition_.source,
                           space::make_defines(definition_, variant, problem_, device_->info()).value(),
                           device_->info().architecture});
    auto done = std::get<protocol::BuildDone>(event());
    EXPECT_EQ(done.outcome.kind, OutcomeKind::kOk) << fault << ": " << done.outcome.reason;
    builds_[std::string(fault)] = std::move(done.build);
  }
  TrialReport trial(std::string_view fault) {
    const Variant variant = faulty_variant(fault);
    device_->submit_trial({++last_id_,
                           {variant, space::make_launch_plan(definition_, variant, problem_, device_->info()).value(),
                            builds_.at(std::string(fault))},
                           0});
    return std::get<protocol::TrialDone>(event()).report;
  }

  const TestFolder folder_;
  space::TemplateDefinition definition_;
  std::unique_ptr<device::WorkerDevice> device_;
  Problem problem_;
  std::map<std::string, BuildInfo> builds_;
  protocol::RequestId last_id_ = 0;
};

TEST_F(FaultsDevice, EachGetsItsOutcomeAndTheNextVariantIsTimedAsBefore) {
  std::vector<Fault> faults;
  std::copy_if(kFaults.begin(), kFaults.end(), std::back_inserter(faults),
               [](const Fault& fault) { return fault.shows == Shows::kLaunch || fault.shows == Shows::kSticky; });
  build("none");
  for (const Fault& fault : faults) build(fault.name);

  ASSERT_EQ(trial("none").outcome.kind, OutcomeKind::kOk);
  const auto start = Clock::now();
  const TrialReport before = trial("none");
  const double usual_s = seconds_since(start);
  const double expected_s = session::median_per_launch_s(before.samples);
  fmt::print("a good variant: {:.3f} s a trial, {:.4f} ms a launch\n\n", usual_s, expected_s * 1e3);
  fmt::print("| fault | outcome | cost s | next variant | reason |\n|---|---|---|---|---|\n");
  for (const Fault& fault : faults) {
    const auto fault_start = Clock::now();
    const TrialReport report = trial(fault.name);
    const TrialReport after = trial("none");
    const double cost_s = seconds_since(fault_start) - usual_s;
    const double drift = session::median_per_launch_s(after.samples) / expected_s - 1;
    fmt::print("| {} | {} | {:.2f} | {:+.2f} % | {} |\n", fault.name, to_string(report.outcome.kind), cost_s,
               drift * 100, report.outcome.reason);
    std::fflush(stdout);
    EXPECT_EQ(report.outcome.kind, fault.kind) << fault.name << ": " << report.outcome.reason;
    EXPECT_THAT(report.outcome.reason, HasSubstr(fault.words)) << fault.name;
    EXPECT_TRUE(report.samples.empty()) << fault.name << " was timed";
    EXPECT_EQ(after.outcome.kind, OutcomeKind::kOk) << "after " << fault.name << ": " << after.outcome.reason;
    EXPECT_LT(std::abs(drift), kMostDrift) << "after " << fault.name;
  }
}

TEST_F(FaultsDevice, WhatPassesTheFirstCheckIsFoundWhenItIsVerified) {
  constexpr std::int64_t kLaunches = 342;
  std::vector<Fault> faults{{"none", Shows::kVerified, OutcomeKind::kOk, ""}};
  std::copy_if(kFaults.begin(), kFaults.end(), std::back_inserter(faults),
               [](const Fault& fault) { return fault.shows == Shows::kVerified; });
  faults.push_back(faults.front());  // a wrong one leaves no trace
  fmt::print("| fault | verified | s | poisoned us | held us | reason |\n|---|---|---|---|---|---|\n");
  for (const Fault& fault : faults) {
    if (builds_.count(std::string(fault.name)) == 0) build(fault.name);
    const Variant variant = faulty_variant(fault.name);
    const TrialReport first = trial(fault.name);
    EXPECT_EQ(first.outcome.kind, OutcomeKind::kOk) << fault.name << ": " << first.outcome.reason;
    protocol::VerifyRequest request{
        .built = {variant, space::make_launch_plan(definition_, variant, problem_, device_->info()).value(),
                  builds_.at(std::string(fault.name))},
        .launches = kLaunches,
        .data_seed = 17};
    request.launch_s = session::median_per_launch_s(first.samples);
    const auto start = Clock::now();
    const auto report = device_->verify(request);
    ASSERT_TRUE(report) << report.error().text();
    fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.2f} | {} |\n", fault.name, to_string(report->outcome.kind),
               seconds_since(start), report->poisoned_s * 1e6, report->held_s * 1e6, report->outcome.reason);
    std::fflush(stdout);
    EXPECT_EQ(report->outcome.kind, fault.kind) << fault.name << ": " << report->outcome.reason;
    EXPECT_THAT(report->outcome.reason, HasSubstr(fault.words)) << fault.name;
    if (fault.kind != OutcomeKind::kOk) continue;
    EXPECT_TRUE(report->deterministic);
    EXPECT_EQ(report->launches, kLaunches + report->copies);
  }
}

TEST_F(FaultsDevice, RoundsGoOnWithTheBaselineTakenOver) {
  build("none");
  build("trap");
  const auto round = [&] {
    const Variant variant = faulty_variant("none");
    protocol::RoundRequest request;
    request.contenders = {protocol::BuiltVariant{
                              variant, space::make_launch_plan(definition_, variant, problem_, device_->info()).value(),
                              builds_.at("none")},
                          BaselineAlgorithm{0}};
    request.order = {0, 1};
    request.round = 1;
    auto report = device_->run_round(request);
    EXPECT_TRUE(report) << report.error().text();
    return report.value_or(protocol::RoundReport{});
  };
  static_cast<void>(round());
  const protocol::RoundReport before = round();
  EXPECT_EQ(trial("trap").outcome.kind, OutcomeKind::kCrashed);
  static_cast<void>(round());
  const protocol::RoundReport after = round();
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(before.samples.at(i) && after.samples.at(i)) << i;
    EXPECT_NEAR(after.samples[i]->per_launch_s() / before.samples[i]->per_launch_s(), 1, kMostDrift) << i;
  }
}

}  // namespace
}  // namespace pgtune::gpu
