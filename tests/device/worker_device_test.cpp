// SPDX-License-Identifier: MIT
// What a worker does to a trial, a round or a verification.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/device/worker_device_fixture.hpp"

namespace pgtune::device {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(WorkerDeviceTest, AFinalistIsVerifiedAndItsFailureIsItsOutcome) {
  set_faults("verify|BM=32,|wrong;verify|BM=64,|segv");
  const auto device = open_prepared(options());
  const auto verify = [&](int tile) {
    protocol::VerifyRequest request{.built = {variant(tile), {}, {}}, .launches = 342};
    request.launch_s = 1e-3;
    const auto report = device->verify(request);
    EXPECT_TRUE(report) << report.error().text();
    return report.value_or(protocol::VerifyReport{});
  };
  EXPECT_EQ(verify(16).launches, 342);
  EXPECT_EQ(verify(32).outcome, (Outcome{OutcomeKind::kWrongResult, "fake: wrong with other data"}));
  EXPECT_EQ(verify(64).outcome.kind, OutcomeKind::kCrashed);
  EXPECT_EQ(verify(16).outcome.kind, OutcomeKind::kOk) << "by the next worker";
}

TEST_F(WorkerDeviceTest, ACrashIsTheVariantsOutcomeAndTheProblemIsPreparedAgain) {
  set_faults("trial|BM=32,|segv;trial|BM=48,|exit3");
  const auto device = open_prepared(options());
  EXPECT_EQ(trial_outcome(*device, 16).kind, OutcomeKind::kOk);
  EXPECT_EQ(trial_outcome(*device, 32),
            (Outcome{OutcomeKind::kCrashed, "measure worker killed by signal 11 (SIGSEGV)"}));
  EXPECT_EQ(trial_outcome(*device, 48),
            (Outcome{OutcomeKind::kCrashed, "measure worker exited with 3: fake: out of luck"}));
  EXPECT_EQ(trial_outcome(*device, 64).kind, OutcomeKind::kOk);
  EXPECT_EQ(measure_operations(), "hello prepare trial trial hello prepare trial hello prepare trial");
}

TEST_F(WorkerDeviceTest, TimesAreTheSameAfterARespawn) {
  set_faults("trial|BM=32,|segv");
  const auto device = open_prepared(options());
  const TrialReport before = trial(*device, 16).value();
  EXPECT_EQ(trial_outcome(*device, 32).kind, OutcomeKind::kCrashed);
  EXPECT_EQ(trial(*device, 16).value(), before);
}

TEST_F(WorkerDeviceTest, AWorkerThatSomebodyElseKillsCostsNothing) {
  const auto file = folder_ / "once";
  set_faults("trial|BM=32,|killed_once|" + file.string());
  const auto device = open_prepared(options());
  std::ofstream(file) << "now";
  EXPECT_EQ(trial_outcome(*device, 32).kind, OutcomeKind::kOk);
  EXPECT_EQ(measure_operations(), "hello prepare trial hello prepare trial");
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(WorkerDeviceTest, AVariantWhoseWorkersAreKilledOverAndOverHasCrashed) {
  set_faults("trial|BM=32,|killed;round|BM=32,|killed");
  const auto device = open_prepared(options());
  EXPECT_EQ(trial_outcome(*device, 32),
            (Outcome{OutcomeKind::kCrashed, "measure worker killed by signal 9 (SIGKILL)"}));
  EXPECT_EQ(measure_operations(), "hello prepare trial hello prepare trial hello prepare trial");
  EXPECT_EQ(trial_outcome(*device, 64).kind, OutcomeKind::kOk);
  const auto report = device->run_round(round_of({32, 48}, {0, 1, 2}));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcomes.at(0).kind, OutcomeKind::kCrashed);
  EXPECT_TRUE(report->samples.at(1));
}

TEST_F(WorkerDeviceTest, ALaunchMayTakeAHundredTimesTheBestSoFarOrTheFloor) {
  set_faults("trial||tell_limit");
  WorkerDevice::Options floorless = options();
  floorless.launch_floor = milliseconds(0);
  const auto device = open_prepared(floorless);
  const auto limit_s = [&](double incumbent_s) {
    protocol::TrialRequest request = trial_request(1, 16);
    request.incumbent_s = incumbent_s;
    device->submit_trial(request);
    std::vector<protocol::Event> events;
    while (events.empty()) events = device->wait(milliseconds(10'000)).value();
    return std::stod(std::get<protocol::TrialDone>(events.front()).report.outcome.reason);
  };
  const double baseline_s = problem().flops() / 42e12;  // the fake's first heuristic
  EXPECT_NEAR(limit_s(0), 100 * baseline_s, 1e-6);
  EXPECT_NEAR(limit_s(10 * baseline_s), 100 * baseline_s, 1e-6);
  EXPECT_NEAR(limit_s(baseline_s / 4), 25 * baseline_s, 1e-6);
  const auto usual = open_prepared(options());
  EXPECT_EQ(trial_outcome(*usual, 16).reason, "0.5");
}

TEST_F(WorkerDeviceTest, WithoutABaselineTheFirstLaunchesOfALargeProblemMayTakeLong) {
  set_faults("trial||tell_limit");
  const auto device = open_prepared(options());
  const auto first_limit = [&](const std::string& shape) {
    EXPECT_TRUE(device->prepare(alone(shape)));
    return trial_outcome(*device, 16).reason;
  };
  EXPECT_EQ(first_limit("512x512x512"), "0.5");
  EXPECT_EQ(first_limit("65536x8192x28672"), "30.7863") << "a second for each TFLOP";
}

TEST_F(WorkerDeviceTest, AHangIsATimeout) {
  set_faults("trial|BM=32,|hang");
  const auto device = open_prepared(impatient_options());
  const Outcome outcome = trial_outcome(*device, 32);
  EXPECT_EQ(outcome.kind, OutcomeKind::kTimeout);
  EXPECT_THAT(outcome.reason, StartsWith("measure worker gave no answer within 0.3"));
  EXPECT_EQ(trial_outcome(*device, 64).kind, OutcomeKind::kOk);
}

TEST_F(WorkerDeviceTest, NonsenseInsteadOfAReplyIsACrash) {
  set_faults("trial|BM=32,|garbage;trial|BM=48,|huge");
  WorkerDevice::Options patient = options();
  patient.trial_floor = std::chrono::minutes(1);  // 64 MiB take a busy machine seconds
  const auto device = open_prepared(patient);
  EXPECT_THAT(trial_outcome(*device, 32).reason, HasSubstr("this is not JSON"));
  EXPECT_EQ(trial_outcome(*device, 48).kind, OutcomeKind::kCrashed);
  EXPECT_EQ(trial_outcome(*device, 64).kind, OutcomeKind::kOk);
}

TEST_F(WorkerDeviceTest, ALostContextKeepsItsOutcomeAndReplacesTheWorkerQuietly) {
  set_faults("trial|BM=32,|context_lost");
  const auto device = open_prepared(options());
  EXPECT_EQ(trial_outcome(*device, 32), (Outcome{OutcomeKind::kLaunchFailed, "fake: does not launch"}));
  EXPECT_EQ(trial_outcome(*device, 64).kind, OutcomeKind::kOk);
  EXPECT_EQ(measure_operations(), "hello prepare trial hello prepare trial");
}

TEST_F(WorkerDeviceTest, NoiseOnStandardErrorIsHarmless) {
  set_faults("trial||noisy");
  const auto device = open_prepared(options());
  EXPECT_EQ(trial_outcome(*device, 32).kind, OutcomeKind::kOk);
}

TEST_F(WorkerDeviceTest, AnEnvironmentErrorInATrialEndsTheSession) {
  set_faults("trial||error");
  const auto device = open_prepared(options());
  const auto report = trial(*device, 32);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::kEnvironment);
}

TEST_F(WorkerDeviceTest, ARoundGivesEachContenderItsSample) {
  const auto device = open_prepared(options());
  const auto report = device->run_round(round_of({16, 32}, {2, 0, 1}));
  ASSERT_TRUE(report) << report.error().text();
  for (const auto& [index, position] : {std::pair{0U, 1}, {1U, 2}, {2U, 0}}) {
    ASSERT_TRUE(report->samples.at(index));
    EXPECT_EQ(report->samples[index]->position, position);
    EXPECT_EQ(report->samples[index]->round, 5);
    EXPECT_EQ(report->outcomes.at(index).kind, OutcomeKind::kOk);
  }
}

TEST_F(WorkerDeviceTest, BuildsGoOnDuringRoundsAndCeilings) {
  const auto device = open_prepared(options());
  for (const int id : {1, 2, 3}) device->submit_build(build_request(id, 16 * id));
  const auto builds_begun = [&] {
    const auto requests = log();
    return std::count_if(requests.begin(), requests.end(), [](const auto& request) { return request.op == "build"; });
  };
  int rounds = 0;
  for (; rounds == 0 || (builds_begun() < 3 && rounds < 100'000); ++rounds)
    ASSERT_TRUE(device->run_round(round_of({64}, {0, 1})));
  EXPECT_EQ(builds_begun(), 3) << "nobody has waited for one";
  EXPECT_TRUE(device->measure_ceilings());
  std::vector<protocol::RequestId> built;
  while (built.size() < 3) {
    const auto events = device->wait(milliseconds(10'000));
    ASSERT_TRUE(events && !events->empty());
    for (const protocol::Event& event : *events) built.push_back(std::get<protocol::BuildDone>(event).id);
  }
  EXPECT_THAT(built, testing::UnorderedElementsAre(1, 2, 3));
}

TEST_F(WorkerDeviceTest, TheContenderThatBreaksARoundIsFoundAndTheOthersKeepTheirSamples) {
  for (const auto& [fault, kind] : {std::pair{"segv", OutcomeKind::kCrashed},
                                    {"hang", OutcomeKind::kTimeout},
                                    {"context_lost", OutcomeKind::kCrashed}}) {
    set_faults(std::string("round|BM=32,|") + fault);
    const auto device = open_prepared(impatient_options());
    const auto report = device->run_round(round_of({16, 32, 48}, {3, 1, 2, 0}));
    ASSERT_TRUE(report) << report.error().text();
    EXPECT_FALSE(report->samples.at(1));
    EXPECT_EQ(report->outcomes.at(1).kind, kind) << fault;
    EXPECT_FALSE(report->outcomes[1].reason.empty());
    for (const auto& [index, position] : {std::pair{0U, 3}, {2U, 2}, {3U, 0}}) {
      ASSERT_TRUE(report->samples.at(index)) << fault;
      EXPECT_EQ(report->samples[index]->position, position);
      EXPECT_EQ(report->outcomes.at(index).kind, OutcomeKind::kOk);
    }
  }
}

TEST_F(WorkerDeviceTest, WhatIsWaitedForIsLimitedByWhatItTakes) {
  set_faults("round|BM=32,|hang;energy||hang");
  WorkerDevice::Options all_hang = impatient_options();
  all_hang.trial_floor = all_hang.call_floor = milliseconds(100);
  const auto device = open_prepared(all_hang);
  protocol::RoundRequest round = round_of({32}, {0});
  round.contenders.pop_back();  // the baseline
  round.sample_s = 0;
  // 100 ms, 200 ms around a sample and a hundred times the baseline.
  EXPECT_THAT(device->run_round(round).value().outcomes.at(0).reason, HasSubstr("no answer within 0.301 s"));
  EXPECT_TRUE(device->prepare(alone("4096x4096x1024")));
  EXPECT_THAT(device->run_round(round).value().outcomes.at(0).reason, HasSubstr("no answer within 0.335 s"));
  protocol::EnergyRequest energy;
  energy.lead_in_s = energy.window_s = 0.01;
  EXPECT_THAT(device->measure_energy(energy).error().text(), HasSubstr("no answer within 0.14 s"));
}

TEST_F(WorkerDeviceTest, AMalformedReportOfARoundIsAnError) {
  set_faults("round|BM=32,BN=64 BM=|segv;round|BM=32,|sample_missing;round|BM=96,|outcome_missing");
  const auto device = open_prepared(options());
  for (const auto& round : {round_of({96}, {0}), round_of({32}, {0}), round_of({32, 48}, {0, 1, 2})}) {
    const auto report = device->run_round(round);
    ASSERT_FALSE(report);
    EXPECT_THAT(report.error().text(), HasSubstr("malformed round report"));
  }
  EXPECT_EQ(measure_operations(), "hello prepare round round round hello prepare round") << "the last one alone";
}

TEST_F(WorkerDeviceTest, TheBaselinesClocksAreKeptWithHowManyOtherGpusWork) {
  const std::string file = (folder_ / "crowded").string();
  set_faults("round||slow_clock|" + file);
  const auto at_work = std::make_shared<GpusAtWork>(1);
  auto beside = options();
  beside.at_work = at_work;
  const auto device = open_prepared(beside);
  ASSERT_TRUE(device->run_round(round_of({64}, {0, 1})));
  std::ofstream(file).flush();
  *at_work = 4;
  ASSERT_TRUE(device->run_round(round_of({64}, {1, 0})));
  const auto clocks = device->clocks_beside();
  ASSERT_EQ(clocks.size(), 2U);
  EXPECT_EQ(clocks[0].busy, 0);
  EXPECT_EQ(clocks[1].busy, 3);
  EXPECT_NEAR(clocks[1].sm_clock_hz / clocks[0].sm_clock_hz, 0.5, 0.05);
}

}  // namespace
}  // namespace pgtune::device
