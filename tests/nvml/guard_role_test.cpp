// SPDX-License-Identifier: MIT
// pgtune-worker --role guard, spoken to as its parent does: clocks come back on every way out.
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/gpu/worker_process.hpp"
#include "tests/nvml/fake_nvml_test.hpp"

namespace pgtune::gpu {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kSet = "nvmlDeviceSetGpuLockedClocks 1485 1485";
constexpr const char* kReset = "nvmlDeviceResetGpuLockedClocks";

class GuardRole : public test::FakeNvmlTest {
 protected:
  static std::vector<std::string> arguments(const std::vector<std::string>& more = {}) {
    std::vector<std::string> all{"--role", "guard", "--gpu", "GPU-known"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static json answer(WorkerProcess& guard) {
    const auto line = guard.read_line();
    return line ? json::parse(*line) : json("no answer");
  }
  /// Ends the input of a guard whose lock is held up, and lets it lock.
  void end_input_while_locking(WorkerProcess& guard) const {
    while (gpu().calls().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    guard.close_input();
    gpu().remove({"hold"});
  }
  /// Waits for the guard to end by itself and expects that it gave the clocks back.
  void expect_restored(WorkerProcess& guard) const {
    EXPECT_EQ(guard.wait(), 0);
    EXPECT_FALSE(gpu().locked_mhz());
    EXPECT_THAT(gpu().calls(), ElementsAre(kSet, kReset));
  }
};

TEST_F(GuardRole, LocksUntilTheEndOfItsInput) {
  WorkerProcess guard(arguments());
  const json locked = answer(guard);
  EXPECT_EQ(locked, json::parse(R"({"id": 1, "ok": true, "body": {"locked_mhz": 1485, "verified": true, "sm_mhz": 1485,
                                    "before": {"sm_mhz": 345, "applications_mhz": 1980}}})"));
  EXPECT_EQ(gpu().locked_mhz(), 1485);
  guard.send("this is not an end\n");
  guard.await_idle();
  EXPECT_EQ(gpu().locked_mhz(), 1485);
  guard.close_input();
  EXPECT_EQ(answer(guard), json::parse(R"({"id": 2, "ok": true, "body": {"sm_mhz": 345}})"));
  expect_restored(guard);
}

TEST_F(GuardRole, SignalsThatAskItToEndRestore) {
  for (const int signal : {SIGTERM, SIGHUP, SIGQUIT}) {
    gpu().remove({"called"});
    WorkerProcess guard(arguments());
    ASSERT_EQ(answer(guard)["ok"], true);
    ::kill(guard.pid(), signal);
    EXPECT_EQ(answer(guard)["id"], 2) << signal;
    expect_restored(guard);
  }
}

TEST_F(GuardRole, LeavesCtrlCToALivingParent) {
  WorkerProcess guard(arguments());
  ASSERT_EQ(answer(guard)["ok"], true);
  EXPECT_NE(::getsid(guard.pid()), ::getsid(0));  // a terminal's signals do not reach it either
  ::kill(guard.pid(), SIGINT);
  guard.await_idle();
  EXPECT_EQ(gpu().locked_mhz(), 1485);
  guard.close_input();
  expect_restored(guard);
}

TEST_F(GuardRole, EndOfInputBeforeLockingLeavesTheGpuAlone) {
  gpu().add("hold nvmlInit_v2");
  WorkerProcess guard(arguments());
  guard.close_input();
  gpu().remove({"hold"});
  EXPECT_EQ(guard.wait(), 0);
  EXPECT_THAT(gpu().calls(), IsEmpty());
}

TEST_F(GuardRole, EndOfInputWhileLockingRestores) {
  gpu().add("hold nvmlDeviceSetGpuLockedClocks");
  WorkerProcess guard(arguments());
  end_input_while_locking(guard);
  expect_restored(guard);
}

TEST_F(GuardRole, EndOfInputWhileVerifyingDoesNotWaitForTheClock) {
  // Verified to the end, a clock that stays this high is an error; one that is not waited for is merely not verified.
  gpu().add("shows_lock 0");
  gpu().add("sm_mhz 1980");
  gpu().add("hold nvmlDeviceSetGpuLockedClocks");
  WorkerProcess guard(arguments());
  end_input_while_locking(guard);
  const json locked = answer(guard);
  EXPECT_EQ(locked["ok"], true) << locked;
  EXPECT_EQ(locked["body"]["verified"], false);
  expect_restored(guard);
}

TEST_F(GuardRole, RefusalsAreAnswersAndExitCodes) {
  gpu().add("status nvmlDeviceSetGpuLockedClocks 4");
  WorkerProcess refused(arguments());
  const json answered = answer(refused);
  EXPECT_EQ(answered["ok"], false);
  EXPECT_EQ(answered["error"]["kind"], "environment");
  EXPECT_THAT(answered["error"]["message"].get<std::string>(), HasSubstr("-lgc 1485,1485"));
  EXPECT_EQ(refused.wait(), 3);

  WorkerProcess unsupported(arguments({"--lock-mhz", "1"}));
  EXPECT_EQ(answer(unsupported)["error"]["kind"], "usage");
  EXPECT_EQ(unsupported.wait(), 2);

  WorkerProcess unknown({"--role", "guard", "--gpu", "GPU-other"});
  EXPECT_THAT(answer(unknown)["error"]["message"].get<std::string>(), HasSubstr("GPU-other"));
  EXPECT_EQ(unknown.wait(), 3);
}

TEST_F(GuardRole, RestoreOnlyRestores) {
  gpu().add("locked_mhz 1485");
  WorkerProcess restore(arguments({"--restore"}));
  EXPECT_EQ(answer(restore), json::parse(R"({"id": 2, "ok": true, "body": {"sm_mhz": 345}})"));
  EXPECT_EQ(restore.wait(), 0);
  EXPECT_FALSE(gpu().locked_mhz());
  EXPECT_THAT(gpu().calls(), ElementsAre(kReset));
}

TEST_F(GuardRole, FailingToRestoreIsAnAnswerAndAnExitCode) {
  WorkerProcess guard(arguments());
  ASSERT_EQ(answer(guard)["ok"], true);
  gpu().add("status nvmlDeviceResetGpuLockedClocks 4");
  guard.close_input();
  EXPECT_THAT(answer(guard)["error"]["message"].get<std::string>(), HasSubstr("-rgc"));
  EXPECT_EQ(guard.wait(), 3);
}

TEST_F(GuardRole, OptionsAreChecked) {
  const auto exit_of = [](const std::vector<std::string>& more) { return WorkerProcess(arguments(more)).wait(); };
  EXPECT_EQ(exit_of({"--restore", "--lock-mhz", "1500"}), 2);
  EXPECT_EQ(exit_of({"--lock-mhz", "fast"}), 2);
  EXPECT_EQ(exit_of({"--lock-mhz", "-5"}), 2);
  EXPECT_EQ(exit_of({"--lock-mhz"}), 2);
  EXPECT_EQ(WorkerProcess({"--role", "guard"}).wait(), 2);
  EXPECT_THAT(gpu().calls(), IsEmpty());
}

}  // namespace
}  // namespace pgtune::gpu
