// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/gpu_lock.hpp"

#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "tests/support/scratch_folder.hpp"

namespace pgtune::tool {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Taken = std::variant<GpuLock, GpuLock::Holder>;

constexpr const char* kUuid = "GPU-1111";
constexpr uid_t kNobody = 65534;

class GpuLockTest : public testing::Test {
 protected:
  GpuLockTest() { fs::permissions(folder_.path(), fs::perms::all | fs::perms::sticky_bit); }  // as /tmp

  [[nodiscard]] Taken take(const std::string& uuid = kUuid) const {
    return GpuLock::take(folder_.path(), uuid).value();
  }
  static bool is_free(const Taken& taken) { return std::holds_alternative<GpuLock>(taken); }
  static std::optional<pid_t> holder(const Taken& taken) { return std::get<GpuLock::Holder>(taken).pid; }
  [[nodiscard]] fs::path file() const { return folder_ / "pgtune-GPU-1111.lock"; }

  /// A process of `user` that holds the lock until it is killed.
  [[nodiscard]] pid_t holder_process(uid_t user) const {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      if (user != ::getuid() && ::setuid(user) != 0) ::_exit(1);
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // after setuid(), which forgets it
      const auto lock = GpuLock::take(folder_.path(), kUuid);
      const char answer = lock && is_free(*lock) ? 'y' : 'n';
      [[maybe_unused]] const auto written = ::write(ready[1], &answer, 1);
      for (;;) ::pause();
    }
    char answer = 0;
    EXPECT_EQ(::read(ready[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    ::close(ready[0]);
    ::close(ready[1]);
    return child;
  }
  static void kill(pid_t child) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }

  const support::ScratchFolder folder_;
};

TEST_F(GpuLockTest, IsHeldByOneAndNamesIt) {
  {
    const Taken first = take();
    ASSERT_TRUE(is_free(first));
    EXPECT_EQ(holder(take()), ::getpid());
    EXPECT_TRUE(is_free(take("GPU-2222"))) << "another GPU";
  }
  EXPECT_TRUE(is_free(take()));
}

TEST_F(GpuLockTest, EndsWithItsProcessHoweverThatEnds) {
  const pid_t child = holder_process(::getuid());
  EXPECT_EQ(holder(take()), child);
  kill(child);
  EXPECT_TRUE(is_free(take())) << "the file it left behind is no lock";
}

TEST_F(GpuLockTest, UsersNoticeEachOther) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root, to be two users";
  const mode_t before = ::umask(077);
  for (const uid_t first : {uid_t{0}, kNobody}) {
    fs::remove(file());
    kill(holder_process(first));  // its file stays
    const pid_t child = holder_process(first == 0 ? kNobody : 0);
    EXPECT_EQ(holder(take()), child);
    kill(child);
  }
  ::umask(before);
}

TEST_F(GpuLockTest, WhatTheFileSaysIsOnlyAHint) {
  std::ofstream(file()) << "no number, and more of it than anybody would write";
  const Taken first = take();
  ASSERT_TRUE(is_free(first));
  std::ofstream(file()) << "-5";
  EXPECT_EQ(holder(take()), std::nullopt);
}

TEST_F(GpuLockTest, ALinkInItsPlaceIsRefused) {
  fs::create_symlink(folder_ / "elsewhere", file());
  const auto taken = GpuLock::take(folder_.path(), kUuid);
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().text(), HasSubstr("PGTUNE_LOCK_DIR"));
  EXPECT_FALSE(fs::exists(folder_ / "elsewhere"));
}

TEST_F(GpuLockTest, AFolderThatIsNotThereIsTold) {
  const auto taken = GpuLock::take(folder_ / "none", kUuid);
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().text(), HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace pgtune::tool
