// SPDX-License-Identifier: MIT
#include "tuner/gpu/nvml/clock_lock.hpp"

#include "tests/nvml/fake_nvml_test.hpp"

namespace pgtune::gpu {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Time that passes at once.
bool no_wait(std::chrono::milliseconds) { return true; }

class ClockLockTest : public test::FakeNvmlTest {
 protected:
  static ClockLock clocks(const char* library = PGTUNE_FAKE_NVML) {
    return ClockLock(Nvml::open(library).value().device("GPU-known").value());
  }
  static Error choice_error(std::optional<int> mhz) {
    const auto chosen = clocks().choose(mhz);
    return chosen ? Error{ErrorKind::kInternal, "no error", {}} : chosen.error();
  }
};

TEST_F(ClockLockTest, SupportedClocksAreThoseOfTheFastestMemoryClock) {
  const auto mhz = clocks().supported_mhz();
  ASSERT_EQ(mhz.size(), 110U);
  EXPECT_EQ(mhz.front(), 345);
  EXPECT_EQ(mhz.back(), 1980);
}

TEST_F(ClockLockTest, ChoosesTheHighestClockOfAtMostThreeQuarters) {
  EXPECT_EQ(clocks().choose(std::nullopt), 1485);
  gpu().add("clocks 1000 2000 400");
  EXPECT_EQ(clocks().choose(std::nullopt), 1200);
  gpu().replace({"clocks"}, "clocks 1900 2000 100");  // none is that low
  EXPECT_EQ(clocks().choose(std::nullopt), 1900);
}

TEST_F(ClockLockTest, TakesASupportedClock) {
  EXPECT_EQ(clocks().choose(345), 345);
  EXPECT_EQ(clocks().choose(1980), 1980);
}

TEST_F(ClockLockTest, UnsupportedClockNamesTheNearest) {
  EXPECT_EQ(choice_error(1500 + 7).message,
            "GPU GPU-known has no SM clock of 1507 MHz: the nearest are 1500 and 1515 MHz; give one it has");
  EXPECT_EQ(choice_error(1507).kind, ErrorKind::kUsage);
  EXPECT_THAT(choice_error(100).message, HasSubstr("the lowest is 345 MHz"));
  EXPECT_THAT(choice_error(2600).message, HasSubstr("the highest is 1980 MHz"));
}

TEST_F(ClockLockTest, WithoutAListTheMaximumDecidesAndTheDriverJudges) {
  gpu().add("status nvmlDeviceGetSupportedGraphicsClocks 3");
  EXPECT_EQ(clocks().choose(std::nullopt), 1485);
  EXPECT_EQ(clocks().choose(1234), 1234);
  gpu().add("status nvmlDeviceGetMaxClockInfo 3");
  EXPECT_THAT(choice_error(std::nullopt).message, HasSubstr("--lock-clocks=MHZ"));
}

TEST_F(ClockLockTest, LocksReadsBackAndGivesBack) {
  const auto locked = clocks().lock(1500, no_wait);
  ASSERT_TRUE(locked) << locked.error().text();
  EXPECT_TRUE(locked->verified);
  EXPECT_EQ(locked->mhz, 1500);
  EXPECT_EQ(locked->before.sm_mhz, 345);
  EXPECT_EQ(locked->before.applications_mhz, 1980);
  EXPECT_EQ(locked->after.sm_mhz, 1500);
  EXPECT_EQ(gpu().locked_mhz(), 1500);
  EXPECT_TRUE(clocks().restore());
  EXPECT_FALSE(gpu().locked_mhz());
  EXPECT_THAT(gpu().calls(), ElementsAre("nvmlDeviceSetGpuLockedClocks 1500 1500", "nvmlDeviceResetGpuLockedClocks"));
}

TEST_F(ClockLockTest, OneStepBesideTheLockIsTheLock) {
  gpu().add("shows_lock 0");
  gpu().add("sm_mhz 1515");
  EXPECT_TRUE(clocks().lock(1500, no_wait)->verified);
}

TEST_F(ClockLockTest, AnIdleGpuBelowItsLockIsLockedButNotVerified) {
  gpu().add("shows_lock 0");
  const auto locked = clocks().lock(1500, no_wait);
  ASSERT_TRUE(locked) << locked.error().text();
  EXPECT_FALSE(locked->verified);
  EXPECT_EQ(locked->after.sm_mhz, 345);
  EXPECT_EQ(gpu().locked_mhz(), 1500);
}

TEST_F(ClockLockTest, AGpuThatDoesNotSayItsClockIsNotVerified) {
  gpu().add("status nvmlDeviceGetClockInfo 3");
  gpu().add("status nvmlDeviceGetApplicationsClock 3");
  const auto locked = clocks().lock(1500, no_wait);
  ASSERT_TRUE(locked) << locked.error().text();
  EXPECT_FALSE(locked->verified || locked->after.sm_mhz || locked->before.applications_mhz);
}

TEST_F(ClockLockTest, ALockWithoutEffectIsAnErrorAndUndone) {
  gpu().add("shows_lock 0");
  gpu().add("sm_mhz 1980");
  const auto locked = clocks().lock(1500, no_wait);
  ASSERT_FALSE(locked);
  EXPECT_THAT(locked.error().message, AllOf(HasSubstr("stays at 1980 MHz"), HasSubstr("leave --lock-clocks out")));
  EXPECT_FALSE(gpu().locked_mhz());
}

TEST_F(ClockLockTest, VerifyingEndsWhenNobodyWaits) {
  gpu().add("shows_lock 0");
  int waits = 0;
  const auto locked = clocks().lock(1500, [&](std::chrono::milliseconds) { return ++waits < 3; });
  ASSERT_TRUE(locked);
  EXPECT_FALSE(locked->verified);
  EXPECT_EQ(waits, 3);
}

TEST_F(ClockLockTest, NoPermissionNamesTheAdministratorsCommands) {
  gpu().add("status nvmlDeviceSetGpuLockedClocks 4");
  const auto locked = clocks().lock(1485, no_wait);
  ASSERT_FALSE(locked);
  EXPECT_EQ(locked.error().kind, ErrorKind::kEnvironment);
  EXPECT_EQ(locked.error().message,
            "only an administrator may lock clocks: run pgtune as root, or have one run 'sudo nvidia-smi -i GPU-known "
            "-lgc 1485,1485' before ('sudo nvidia-smi -i GPU-known -rgc' undoes it) and leave --lock-clocks out");
  EXPECT_FALSE(gpu().locked_mhz());
}

TEST_F(ClockLockTest, GpuOrDriverWithoutTheFunctionSaysSo) {
  EXPECT_THAT(clocks(PGTUNE_FAKE_NVML_OLD).lock(1485, no_wait).error().message, HasSubstr("cannot lock its clocks"));
  gpu().add("status nvmlDeviceSetGpuLockedClocks 3");
  EXPECT_THAT(clocks().lock(1485, no_wait).error().message, HasSubstr("cannot lock its clocks"));
}

TEST_F(ClockLockTest, AnyOtherRefusalIsPassedOn) {
  gpu().add("status nvmlDeviceSetGpuLockedClocks 999");
  EXPECT_THAT(clocks().lock(1485, no_wait).error().message,
              AllOf(HasSubstr("Unknown Error (status 999)"), HasSubstr("-lgc 1485,1485")));
}

TEST_F(ClockLockTest, RestoringTriesAgain) {
  ASSERT_TRUE(clocks().lock(1485, no_wait));
  gpu().add("status nvmlDeviceResetGpuLockedClocks 999 2");
  EXPECT_TRUE(clocks().restore());
  EXPECT_FALSE(gpu().locked_mhz());
  EXPECT_EQ(gpu().calls().size(), 4U);
}

TEST_F(ClockLockTest, RestoringThatFailsNamesTheCommand) {
  ASSERT_TRUE(clocks().lock(1485, no_wait));
  gpu().add("status nvmlDeviceResetGpuLockedClocks 4");
  const auto restored = clocks().restore();
  ASSERT_FALSE(restored);
  EXPECT_THAT(restored.error().message,
              AllOf(HasSubstr("may still be locked"), HasSubstr("sudo nvidia-smi -i GPU-known -rgc")));
  EXPECT_EQ(gpu().locked_mhz(), 1485);
}

}  // namespace
}  // namespace pgtune::gpu
