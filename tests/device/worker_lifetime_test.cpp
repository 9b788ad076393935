// SPDX-License-Identifier: MIT
// How workers start, are waited for, are replaced and end.
#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <thread>

#include "tests/device/worker_device_fixture.hpp"
#include "tuner/protocol/codec.hpp"

namespace pgtune::device {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST_F(WorkerDeviceTest, OpensPreparesBuildsAndTries) {
  auto device = WorkerDevice::open(options()).value();
  EXPECT_EQ(device->info().name, "Fake GPU");
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

TEST_F(WorkerDeviceTest, TwoRespawnsInARowThatFailEndNothingHoweverOften) {
  set_faults("trial|BM=32,|segv");
  WorkerDevice::Options with_script = options();
  with_script.worker_path = folder_ / "worker";
  with_script.cache_dir = folder_ / "cubins";
  std::ofstream(with_script.worker_path) << "#!/bin/sh\necho $* >>" << (folder_ / "arguments").string()
                                         << "\nfor broken in " << (folder_ / "broken").string()
                                         << "?; do [ -e $broken ] && rm $broken && exit 3; done\nexec " << worker_path()
                                         << " \"$@\"\n";
  std::filesystem::permissions(with_script.worker_path, std::filesystem::perms::owner_all);
  const auto device = open_prepared(with_script);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(trial_outcome(*device, 32).kind, OutcomeKind::kCrashed);
    for (const char* broken : {"broken1", "broken2"}) std::ofstream(folder_ / broken).flush();
    EXPECT_EQ(trial_outcome(*device, 64).kind, OutcomeKind::kOk);
  }
  std::ifstream started(folder_ / "arguments");
  int starts = 0;
  for (std::string line; std::getline(started, line); ++starts)
    EXPECT_THAT(line, HasSubstr("--cache-dir " + with_script.cache_dir));
  EXPECT_EQ(starts, 1 + 2 * 3);
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
  set_faults("hello||no_device");
  EXPECT_THAT(reason(), HasSubstr("does not say which GPU it has"));
  set_faults("hello||hang");
  options.hello_timeout = milliseconds(300);
  const std::clock_t before = std::clock();
  EXPECT_THAT(reason(), HasSubstr("gave no answer within 0.3 s"));
  EXPECT_LT(std::clock() - before, CLOCKS_PER_SEC / 10) << "it waits without computing";
}

TEST_F(WorkerDeviceTest, PreparingFailsWithTheWorkersReason) {
  set_faults("prepare||error");
  const auto device = WorkerDevice::open(options()).value();
  for (int i = 0; i < 2; ++i) {
    const auto baseline = device->prepare({problem(), {}});
    ASSERT_FALSE(baseline);
    EXPECT_EQ(baseline.error().text(), "fake: this machine cannot do it");
  }
  EXPECT_EQ(measure_operations(), "hello prepare prepare") << "the worker is well";
}

class PreparedOperation : public WorkerDeviceTest {
 protected:
  /// An operation of that name, which is enough for the fake.
  static Problem operation(const std::string& name, double flops = 8) {
    OperationProblem numbers;
    numbers.name = name;
    numbers.content_hash = "0";
    numbers.sizes = {{"N", 8}};
    OperationBuffer& output = numbers.buffers.emplace_back();
    output.name = "Y";
    output.role = BufferRole::kOut;
    output.extents = {8};
    output.strides = {1};
    numbers.reference = {{"twice", {1, 1, 1}, {32, 1, 1}, {}}};
    numbers.flops = flops;
    numbers.bytes = 8;
    numbers.unit = kBytesUnit;
    Problem out;
    out.operation = OperationHandle(std::move(numbers));
    return out;
  }
};

TEST_F(PreparedOperation, ThatCostsTheContextIsRefusedAndTheNextOneGetsANewWorker) {
  set_faults("prepare|faulty|bad_reference");
  const auto device = WorkerDevice::open(options()).value();
  const auto refused = device->prepare({operation("faulty"), {}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(refused.error().text(), HasSubstr("running the reference of the operation 'faulty'"));
  EXPECT_TRUE(device->prepare({operation("sound", 1.6e21), {}}));
  EXPECT_EQ(measure_operations(), "hello prepare hello prepare");
}

TEST_F(PreparedOperation, ThatHangsIsToldWithWhatMayNotEnd) {
  set_faults("prepare|endless|hang;prepare|512x512x512|hang");
  WorkerDevice::Options impatient = options();
  impatient.prepare_timeout = milliseconds(300);
  const auto device = WorkerDevice::open(impatient).value();
  protocol::PrepareRequest request{operation("endless"), {}};
  const auto reason = [&] {
    const auto hung = device->prepare(request);
    EXPECT_FALSE(hung);
    if (hung) return std::string();
    EXPECT_EQ(hung.error().kind, ErrorKind::kEnvironment);
    return hung.error().text();
  };
  EXPECT_EQ(reason(),
            "measure worker gave no answer within 0.301 s: the reference of the operation 'endless' or a kernel that "
            "fills its buffers does not end, or takes too long for these sizes");
  request.builds = {{.title = "plain", .built = protocol::BuiltVariant{variant(16), {}, {}}}};
  EXPECT_THAT(reason(), HasSubstr("'endless', a kernel that fills its buffers or a template that it is compared with"));
  request = {problem(), {}};
  EXPECT_EQ(reason(), "measure worker gave no answer within 0.303 s") << "GEMM's kernels are pgtune's own";
}

TEST_F(WorkerDeviceTest, ALargeProblemMayTakeLongToPrepareByEachWorker) {
  const auto broken = folder_ / "broken";
  set_faults("trial|BM=32,|segv;prepare||hang|" + broken.string());
  WorkerDevice::Options impatient = options();
  impatient.prepare_timeout = milliseconds(300);
  const auto device = WorkerDevice::open(impatient).value();
  ASSERT_TRUE(device->prepare(alone("4096x4096x1024")));
  EXPECT_EQ(trial_outcome(*device, 32).kind, OutcomeKind::kCrashed);
  std::ofstream(broken) << "now";
  EXPECT_THAT(trial(*device, 64).error().text(), HasSubstr("gave no answer within 0.644 s"));
  EXPECT_THAT(device->prepare(alone("4096x4096x2048")).error().text(), HasSubstr("gave no answer within 0.988 s"));
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

}  // namespace
}  // namespace pgtune::device
