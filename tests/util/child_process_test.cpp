// SPDX-License-Identifier: MIT
#include "tuner/util/child_process.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace pgtune::device {
namespace {

using testing::HasSubstr;

constexpr std::size_t kLimit = 1U << 20U;
/// Longer than anything here takes; only a failing test waits so long.
constexpr std::chrono::seconds kPatience{30};

std::unique_ptr<ChildProcess> shell(const std::string& script, std::size_t limit = kLimit) {
  return ChildProcess::start({"/bin/sh", "-c", script}, limit).value();
}

/// Pumps until `done` or patience ends.
template <typename Done>
bool pump_until(ChildProcess& child, const Done& done) {
  const auto until = SteadyClock::now() + kPatience;
  while (SteadyClock::now() < until) {
    child.pump();
    if (done()) return true;
    std::vector<pollfd> fds;
    child.add_poll_fds(fds);
    static_cast<void>(wait_ready(fds, until));
  }
  return false;
}

std::string line_of(ChildProcess& child) {
  std::optional<std::string> line;
  pump_until(child, [&] { return (line = child.next_line()) || child.ended(); });
  return line.value_or("(no line)");
}

std::string end_of(ChildProcess& child) {
  EXPECT_TRUE(pump_until(child, [&] { return child.ended(); }));
  return child.death_reason();
}

TEST(ChildProcess, LinesComeOneByOneHoweverTheyArrive) {
  errno = EINTR;  // some earlier call's
  const auto child = shell("printf 'one\\ntw'; sleep 0.05; printf 'o\\n\\nlast'");
  EXPECT_EQ(line_of(*child), "one");
  EXPECT_EQ(line_of(*child), "two");
  EXPECT_EQ(line_of(*child), "");
  EXPECT_EQ(line_of(*child), "(no line)");
}

TEST(ChildProcess, MoreThanAPipeHoldsGoesInAndComesBack) {
  const auto child = shell("exec cat", 8U << 20U);
  const std::string line(4U << 20U, 'x');
  child->send(line + "\n");
  EXPECT_EQ(line_of(*child), line);
}

TEST(ChildProcess, SaysHowTheChildEnded) {
  EXPECT_EQ(end_of(*shell("exit 0")), "exited with 0");
  EXPECT_EQ(end_of(*shell("echo first >&2; echo 'second  ' >&2; echo >&2; exit 3")), "exited with 3: second");
  EXPECT_EQ(end_of(*shell("echo 'a.cpp:3:5: error: what it is' >&2; echo '   |  ^' >&2; exit 1")),
            "exited with 1: a.cpp:3:5: error: what it is");
  EXPECT_EQ(end_of(*shell("kill -SEGV $$")), "killed by signal 11 (SIGSEGV)");
  EXPECT_EQ(end_of(*shell("exec >&- 2>&-; exec sleep 1000")), "closed its output without exiting");
}

TEST(ChildProcess, KillingWhatIsGoneChangesNotHowItEnded) {
  const auto child = shell("kill -KILL $$");
  EXPECT_EQ(end_of(*child), "killed by signal 9 (SIGKILL)");
  child->kill();
  EXPECT_TRUE(child->killed_from_outside());
  const auto own = shell("exec sleep 1000");
  own->kill();
  EXPECT_EQ(end_of(*own), "killed by signal 9 (SIGKILL)");
  EXPECT_FALSE(own->killed_from_outside());
}

TEST(ChildProcess, ErrorOutputIsDrainedAndItsEndKept) {
  const auto child = shell("head -c 3000000 /dev/zero >&2; echo >&2; echo the end >&2; exit 4", kLimit);
  EXPECT_EQ(end_of(*child), "exited with 4: the end");
}

TEST(ChildProcess, ALineOverTheLimitIsAnOverflowAndNotMemory) {
  const auto child = shell("exec cat /dev/zero", 100'000);
  EXPECT_TRUE(pump_until(*child, [&] { return child->overflowed(); }));
  EXPECT_FALSE(child->next_line());
}

TEST(ChildProcess, ALineOfExactlyTheLimitIsNoOverflow) {
  const auto exact = shell("printf '123456789\\n'", 10), longer = shell("printf '1234567890\\n'", 10);
  EXPECT_EQ(line_of(*exact), "123456789");
  EXPECT_FALSE(exact->overflowed());
  EXPECT_TRUE(pump_until(*longer, [&] { return longer->overflowed(); }));
}

TEST(ChildProcess, WritingToADeadChildIsNoSignal) {
  const auto child = shell("exit 0");
  EXPECT_TRUE(pump_until(*child, [&] { return child->ended(); }));
  child->send("anybody?\n");
  child->send("no\n");
  EXPECT_EQ(child->death_reason(), "exited with 0");
}

TEST(ChildProcess, AMissingProgramIsAnEnvironmentError) {
  const auto child = ChildProcess::start({"/nonexistent/worker"}, kLimit);
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().kind, ErrorKind::kEnvironment);
  EXPECT_EQ(child.error().text(), "cannot start /nonexistent/worker: No such file or directory");
}

TEST(ChildProcess, TheDestructorKillsAndReaps) {
  auto child = shell("exec sleep 1000");
  const pid_t pid = child->pid();
  child.reset();
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(ChildProcess, ChildrenHoldOnlyTheirOwnPipes) {
  const std::string count = "ls /proc/self/fd | wc -l; exec cat";
  const auto alone = shell(count);
  const auto beside = shell(count);
  EXPECT_EQ(line_of(*beside), line_of(*alone));
}

TEST(ChildProcess, PipesTakeNoStandardDescriptorThatIsClosed) {
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const int kept = ::fcntl(standard, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    ::close(standard);
    const auto child = ChildProcess::start({"/bin/sh", "-c", "read word; echo $word >&2; echo $word"}, kLimit);
    const bool is_free = ::fcntl(standard, F_GETFD) < 0;
    ::dup2(kept, standard);
    ::close(kept);
    EXPECT_TRUE(is_free) << standard;
    ASSERT_TRUE(child) << standard;
    (*child)->send("word\n");
    EXPECT_EQ(line_of(**child), "word") << standard;
  }
}

TEST(ChildProcess, IsOutOfReachOfTheTerminalsInterrupt) {
  const auto child = shell("echo ready; exec cat");
  ASSERT_EQ(line_of(*child), "ready");
  EXPECT_NE(::getpgid(child->pid()), ::getpgrp());
}

TEST(ChildProcess, SignalMaskOfTheParentIsNotInherited) {
  sigset_t mask, before;
  sigemptyset(&mask);
  sigaddset(&mask, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &mask, &before);
  const auto child = shell("grep SigBlk /proc/self/status");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_THAT(line_of(*child), HasSubstr("0000000000000000"));
}

}  // namespace
}  // namespace pgtune::device
