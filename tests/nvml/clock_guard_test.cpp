// SPDX-License-Identifier: MIT
// ClockGuard with the real worker and a pretended GPU: whatever becomes of pgtune or of the guard, the clocks come
// back.
#include "tool/pgtune/measuring/clock_guard.hpp"

#include <csignal>
#include <thread>

#include "tests/nvml/fake_nvml_test.hpp"
#include "tuner/util/child_process.hpp"

namespace pgtune::tool {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kSet = "nvmlDeviceSetGpuLockedClocks 1485 1485";
constexpr const char* kReset = "nvmlDeviceResetGpuLockedClocks";
/// Longer than anything here takes; only a failing test waits so long.
constexpr std::chrono::seconds kPatience{20};

class ClockGuardTest : public gpu::test::FakeNvmlTest {
 protected:
  static Result<ClockGuard> lock(std::optional<int> mhz = std::nullopt) {
    return ClockGuard::lock(PGTUNE_WORKER_PATH, "GPU-known", mhz);
  }
  static std::string lock_error(std::optional<int> mhz = std::nullopt) {
    const auto guard = lock(mhz);
    return guard ? "no error" : guard.error().text();
  }
  [[nodiscard]] pid_t guard_pid() const { return std::stoi(gpu().find({"called"}).front().at(0)); }
  [[nodiscard]] bool unlocked_soon() const {
    const auto until = SteadyClock::now() + kPatience;
    while (gpu().locked_mhz() && SteadyClock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return !gpu().locked_mhz();
  }
  /// A process that holds the clocks locked.
  static std::unique_ptr<ChildProcess> start_parent(const std::string& how) {
    auto parent = ChildProcess::start({PGTUNE_GUARD_PARENT, PGTUNE_WORKER_PATH, how}, 1U << 16U).value();
    EXPECT_EQ(wait_for_line(*parent, "parent", kPatience), "locked");
    return parent;
  }
  static std::string end_of(ChildProcess& parent) { return wait_for_line(parent, "parent", kPatience).error().message; }
};

TEST_F(ClockGuardTest, LocksAndReleases) {
  auto guard = lock();
  ASSERT_TRUE(guard) << guard.error().text();
  EXPECT_EQ(guard->locked_hz(), 1485e6);
  EXPECT_EQ(guard->note(), "");
  EXPECT_TRUE(guard->holds());
  EXPECT_EQ(gpu().locked_mhz(), 1485);
  EXPECT_TRUE(guard->release());
  EXPECT_FALSE(gpu().locked_mhz());
  EXPECT_FALSE(guard->holds());
  EXPECT_TRUE(guard->release());
  EXPECT_THAT(gpu().calls(), ElementsAre(kSet, kReset));
}

TEST_F(ClockGuardTest, GoingOutOfScopeReleases) {
  { ASSERT_TRUE(lock()); }
  EXPECT_FALSE(gpu().locked_mhz());
}

TEST_F(ClockGuardTest, AMovedGuardReleasesOnce) {
  {
    ClockGuard first = std::move(lock().value());
    ClockGuard second = std::move(first);
    EXPECT_EQ(gpu().locked_mhz(), 1485);
    second = std::move(lock(1980).value());
    EXPECT_EQ(second.locked_hz(), 1980e6);
  }
  EXPECT_FALSE(gpu().locked_mhz());
  EXPECT_THAT(gpu().calls(), ElementsAre(kSet, "nvmlDeviceSetGpuLockedClocks 1980 1980", kReset, kReset));
}

TEST_F(ClockGuardTest, AClockThatDoesNotShowIsANote) {
  gpu().add("shows_lock 0");
  const auto guard = lock();
  ASSERT_TRUE(guard) << guard.error().text();
  EXPECT_THAT(guard->note(), AllOf(HasSubstr("locked at 1485 MHz"), HasSubstr("reads 345 MHz without load")));
}

TEST_F(ClockGuardTest, AnUnsupportedClockIsAUsageError) {
  const auto guard = lock(1);
  ASSERT_FALSE(guard);
  EXPECT_EQ(guard.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(guard.error().text(), HasSubstr("the lowest is 345 MHz"));
  EXPECT_THAT(gpu().calls(), IsEmpty());
}

TEST_F(ClockGuardTest, AWorkerThatIsNotThere) {
  const auto guard = ClockGuard::lock("/nonexistent/pgtune-worker", "GPU-known", std::nullopt);
  ASSERT_FALSE(guard);
  EXPECT_THAT(guard.error().text(), AllOf(HasSubstr("/nonexistent/pgtune-worker"), HasSubstr("PGTUNE_WORKER")));
}

TEST_F(ClockGuardTest, AKilledGuardIsReplacedAndTold) {
  auto guard = lock();
  ASSERT_TRUE(guard);
  ::kill(guard_pid(), SIGKILL);
  const auto until = SteadyClock::now() + kPatience;
  while (guard->holds() && SteadyClock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(guard->holds());
  EXPECT_EQ(gpu().locked_mhz(), 1485);
  const auto released = guard->release();
  ASSERT_FALSE(released);
  EXPECT_THAT(released.error().text(),
              AllOf(HasSubstr("killed by signal 9 (SIGKILL)"), HasSubstr("the clocks were restored")));
  EXPECT_FALSE(gpu().locked_mhz());
}

TEST_F(ClockGuardTest, AGuardKilledWhileLockingIsCleanedUpAfter) {
  gpu().add("hold nvmlDeviceSetGpuLockedClocks");
  std::thread killer([this] {
    while (gpu().find({"called"}).empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ::kill(guard_pid(), SIGKILL);
    gpu().remove({"hold"});
  });
  const std::string error = lock_error();
  killer.join();
  EXPECT_THAT(error, AllOf(HasSubstr("SIGKILL"), HasSubstr("the clocks were restored")));
  EXPECT_THAT(gpu().calls(), ElementsAre(kSet, kReset));
}

TEST_F(ClockGuardTest, AGuardThatWasToldToEndIsNoLockAnyMore) {
  auto guard = lock();
  ASSERT_TRUE(guard);
  ::kill(guard_pid(), SIGTERM);
  EXPECT_TRUE(unlocked_soon());
  const auto until = SteadyClock::now() + kPatience;
  while (guard->holds() && SteadyClock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto released = guard->release();
  ASSERT_FALSE(released);
  EXPECT_THAT(released.error().text(), HasSubstr("before the measuring was over"));
}

TEST_F(ClockGuardTest, AKilledGuardWhoseClocksCannotBeRestored) {
  auto guard = lock();
  ASSERT_TRUE(guard);
  gpu().add("status nvmlDeviceResetGpuLockedClocks 4");
  ::kill(guard_pid(), SIGKILL);
  EXPECT_THAT(guard->release().error().text(), AllOf(HasSubstr("SIGKILL"), HasSubstr("may still be locked"),
                                                     HasSubstr("sudo nvidia-smi -i GPU-known -rgc")));
}

TEST_F(ClockGuardTest, NormalEndOfTheParent) {
  const auto parent = start_parent("return");
  EXPECT_EQ(end_of(*parent), "parent exited with 0");
  EXPECT_FALSE(gpu().locked_mhz());
}

TEST_F(ClockGuardTest, ErrorInTheParent) {
  const auto parent = start_parent("throw");
  EXPECT_EQ(end_of(*parent), "parent exited with 4");
  EXPECT_FALSE(gpu().locked_mhz());
}

TEST_F(ClockGuardTest, SignalsThatEndTheParent) {
  for (const int signal : {SIGKILL, SIGTERM, SIGINT, SIGSEGV}) {
    gpu().remove({"called"});
    const auto parent = start_parent("wait");
    EXPECT_EQ(gpu().locked_mhz(), 1485);
    ::kill(parent->pid(), signal);
    EXPECT_TRUE(unlocked_soon()) << signal;
    EXPECT_THAT(gpu().calls(), ElementsAre(kSet, kReset)) << signal;
    EXPECT_THAT(end_of(*parent), HasSubstr("killed by signal " + std::to_string(signal)));
  }
}

TEST_F(ClockGuardTest, CtrlCToTheGroupLetsTheParentFinishFirst) {
  const auto parent = start_parent("work");
  ASSERT_EQ(::kill(-parent->pid(), SIGINT), 0);  // the child leads a process group, as a shell's job does
  EXPECT_EQ(wait_for_line(*parent, "parent", kPatience), "holds");
  EXPECT_EQ(end_of(*parent), "parent exited with 0");
  EXPECT_FALSE(gpu().locked_mhz());
}

TEST_F(ClockGuardTest, CtrlCToTheGroupAlsoWhenItEndsTheParent) {
  const auto parent = start_parent("wait");
  ASSERT_EQ(::kill(-parent->pid(), SIGINT), 0);
  EXPECT_TRUE(unlocked_soon());
}

}  // namespace
}  // namespace pgtune::tool
