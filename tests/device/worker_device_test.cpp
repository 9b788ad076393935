// SPDX-License-Identifier: MIT
#include "tuner/device/worker_device.hpp"

#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "tests/device/fake_worker_test.hpp"
#include "tuner/protocol/codec.hpp"

namespace pgtune::device {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

class WorkerDeviceTest : public FakeWorkerTest {
 protected:
  [[nodiscard]] WorkerDevice::Options options() const {
    WorkerDevice::Options options;
    options.worker_path = worker_path();
    options.compile = std::make_shared<CompileService>(CompilePool::Options{.worker_path = worker_path(),
                                                                            .cache_dir = folder_.string(),
                                                                            .jobs = 2,
                                                                            .hello_timeout = options.hello_timeout});
    return options;
  }
  /// For tests in which something hangs.
  [[nodiscard]] WorkerDevice::Options impatient_options() const {
    WorkerDevice::Options impatient = options();
    impatient.launch_floor = milliseconds(0);
    impatient.trial_floor = impatient.call_floor = milliseconds(300);
    return impatient;
  }
  [[nodiscard]] static std::unique_ptr<WorkerDevice> open_prepared(const WorkerDevice::Options& options) {
    auto device = WorkerDevice::open(options).value();
    EXPECT_TRUE(device->prepare({problem(), {}}));
    return device;
  }
  static Result<TrialReport> trial(WorkerDevice& device, int tile) {
    device.submit_trial(trial_request(tile, tile));
    for (;;) {
      auto events = device.wait(milliseconds(10'000));
      if (!events) return tl::unexpected<Error>(events.error());
      if (events->empty()) continue;
      EXPECT_EQ(std::get<protocol::TrialDone>(events->front()).id, tile);
      return std::get<protocol::TrialDone>(events->front()).report;
    }
  }
  static Outcome trial_outcome(WorkerDevice& device, int tile) { return trial(device, tile).value().outcome; }

  static protocol::RoundRequest round_of(const std::vector<int>& tiles, std::vector<int> order) {
    protocol::RoundRequest request{{}, std::move(order), 5};
    for (const int tile : tiles) request.contenders.emplace_back(protocol::BuiltVariant{variant(tile), {}, {}});
    request.contenders.emplace_back(BaselineAlgorithm{0});
    return request;
  }
};

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

TEST_F(WorkerDeviceTest, OpensPreparesBuildsAndTries) {
  auto device = WorkerDevice::open(options()).value();
  EXPECT_EQ(device->info().name, "Fake GPU");
  EXPECT_EQ(device->source(), Source::kGpu);
  EXPECT_EQ(device->build_slots(), 4U);
  const auto baseline = device->prepare({problem(), {}});
  ASSERT_TRUE(baseline) << baseline.error().text();
  EXPECT_EQ(baseline->algorithms.size(), 2U);

  device->submit_build(build_request(1, 64));
  device->submit_trial(trial_request(2, 64));
  bool built = false, tried = false;
  while (!built || !tried) {
    const auto events = device->wait(milliseconds(10'000)).value();
    for (const protocol::Event& event : events) {
      if (const auto* const done = std::get_if<protocol::BuildDone>(&event)) built = done->id == 1;
      if (const auto* const done = std::get_if<protocol::TrialDone>(&event)) tried = done->id == 2;
    }
  }
}

TEST_F(WorkerDeviceTest, WaitingForNothingEndsAtTheTimeout) {
  const auto device = WorkerDevice::open(options()).value();
  EXPECT_TRUE(device->wait(milliseconds(1)).value().empty());
}

TEST_F(WorkerDeviceTest, ASignalEndsTheWait) {
  const auto device = open_prepared(options());
  static volatile std::sig_atomic_t signals = 0;
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) { signals = signals + 1; };
  ::sigaction(SIGUSR1, &action, &before);
  const pthread_t self = ::pthread_self();
  std::atomic<bool> woken = false;
  std::thread sender([&] {
    while (!woken) {
      std::this_thread::sleep_for(milliseconds(20));
      ::pthread_kill(self, SIGUSR1);
    }
  });
  EXPECT_TRUE(device->wait(std::chrono::hours(24)).value().empty());  // a wait that goes on does not end at all
  EXPECT_GT(signals, 0);
  woken = true;
  sender.join();
  ::sigaction(SIGUSR1, &before, nullptr);
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

TEST_F(WorkerDeviceTest, TheNextWorkerTakesTheBaselineOver) {
  set_faults("trial|BM=32,|segv");
  const auto device = open_prepared(options());
  static_cast<void>(trial(*device, 32));
  EXPECT_EQ(trial_outcome(*device, 16).kind, OutcomeKind::kOk);
  std::vector<bool> known;
  for (const LoggedRequest& request : log()) {
    if (request.op == "prepare") known.push_back(request.key.ends_with(" known"));
  }
  EXPECT_EQ(known, (std::vector<bool>{false, true}));
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
  const auto device = open_prepared(options());
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

TEST_F(WorkerDeviceTest, ThreeRespawnsInARowThatFailEndTheSession) {
  const auto broken = folder_ / "broken";
  for (const std::string fault : {"hello||exit3|", "prepare||segv|", "prepare||error|"}) {
    set_faults("trial|BM=32,|segv;" + fault + broken.string());
    const auto device = open_prepared(options());
    std::ofstream(broken) << "now";
    EXPECT_EQ(trial_outcome(*device, 32).kind, OutcomeKind::kCrashed);
    const auto report = trial(*device, 64);
    ASSERT_FALSE(report) << fault;
    EXPECT_EQ(report.error().kind, ErrorKind::kEnvironment);
    EXPECT_THAT(report.error().text(), HasSubstr("3 measure workers in a row failed"));
    std::filesystem::remove(broken);
  }
}

TEST_F(WorkerDeviceTest, OpeningFailsWithTheWorkersReason) {
  auto options = this->options();
  const auto reason = [&] {
    const auto device = WorkerDevice::open(options);
    return device ? std::string("it opened") : device.error().text();
  };
  set_faults("hello||error");
  EXPECT_EQ(reason(), "GPU 0: fake: this machine cannot do it");
  set_faults("hello||exit3");
  EXPECT_THAT(reason(), AllOf(HasSubstr("could not start"), HasSubstr("exited with 3: fake: out of luck")));
  set_faults("hello||wrong_version");
  EXPECT_THAT(reason(), HasSubstr("speaks protocol " + std::to_string(protocol::kProtocolVersion + 1)));
  set_faults("hello||hang");
  options.hello_timeout = milliseconds(300);
  EXPECT_THAT(reason(), HasSubstr("gave no answer within 0.3 s"));
}

TEST_F(WorkerDeviceTest, PreparingFailsWithContext) {
  set_faults("prepare||error");
  const auto device = WorkerDevice::open(options()).value();
  const auto baseline = device->prepare({problem(), {}});
  ASSERT_FALSE(baseline);
  EXPECT_THAT(baseline.error().text(), AllOf(HasSubstr("preparing 512x512x512"), HasSubstr("cannot do it")));
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

TEST_F(WorkerDeviceTest, CrashesLeakNoDescriptors) {
  set_faults("trial||segv;build||segv");
  const std::size_t before = open_descriptors();
  {
    const auto device = open_prepared(options());
    for (int tile = 1; tile <= 5; ++tile) {
      EXPECT_EQ(trial_outcome(*device, tile).kind, OutcomeKind::kCrashed);
      device->submit_build(build_request(tile, tile));
      while (device->wait(milliseconds(10'000)).value().empty()) {
      }
    }
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(WorkerDeviceTest, WorkersDieWithTheParent) {
  set_faults("trial||hang;build||hang");
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // the orphans come here, where their end can be seen
  const pid_t parent = ::fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    const auto device = open_prepared(options());
    device->submit_build(build_request(1, 16));
    device->submit_trial(trial_request(2, 16));
    for (;;) static_cast<void>(device->wait(std::chrono::minutes(1)));
  }
  const auto busy = [&] {
    int count = 0;
    for (const LoggedRequest& request : log()) count += request.op == "trial" || request.op == "build" ? 1 : 0;
    return count == 2;
  };
  while (!busy()) std::this_thread::sleep_for(milliseconds(5));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  for (const LoggedRequest& request : log()) {
    if (request.op != "trial" && request.op != "build") continue;
    int status = 0;
    EXPECT_EQ(::waitpid(request.pid, &status, 0), request.pid);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << request.op;
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_F(WorkerDeviceTest, OtherProcessesAreThoseBesideItsOwnWorker) {
  const auto device = open_prepared(options());
  EXPECT_EQ(device->other_processes(), OtherProcesses{}) << "without NVML";
  const std::string file = (folder_ / "others").string();
  ::setenv("PGTUNE_FAKE_OTHERS", file.c_str(), 1);
  std::ofstream(file).flush();
  EXPECT_EQ(device->other_processes(), OtherProcesses{}) << "its own worker alone";
  std::ofstream(file) << "1 1024 init\n";
  EXPECT_EQ(device->other_processes(), (OtherProcesses{{{1, 1024, "init"}}, false}));
  ::unsetenv("PGTUNE_FAKE_OTHERS");
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
