// SPDX-License-Identifier: MIT
#include "tool/worker/parent_watch.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace pgtune::worker {
namespace {

using Clock = std::chrono::steady_clock;

tl::unexpected<Error> refused(std::string_view action) {
  return fail(ErrorKind::kEnvironment, fmt::format("cannot {}: {}", action, std::generic_category().message(errno)));
}

}  // namespace

Result<ParentWatch> ParentWatch::start() {
  const pid_t parent = ::getppid();
  // The parent asks the kernel to kill its children with it. Until here that does no harm.
  if (::prctl(PR_SET_PDEATHSIG, 0) != 0) return refused("stay alive at the parent's end");
  static_cast<void>(::setsid());
  if (::signal(SIGPIPE, SIG_IGN) == SIG_ERR) return refused("ignore SIGPIPE");
  sigset_t mask;
  ::sigemptyset(&mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::sigaddset(&mask, signal);
  if (::sigprocmask(SIG_BLOCK, &mask, nullptr) != 0) return refused("block signals");
  FileDescriptor signals(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.is_open()) return refused("wait for signals");
  return ParentWatch(std::move(signals), parent);
}

bool ParentWatch::input_ended() {
  std::array<char, 256> ignored;
  const ssize_t count = ::read(STDIN_FILENO, ignored.data(), ignored.size());
  return count == 0 || (count < 0 && errno != EINTR);
}

bool ParentWatch::told_to_end() {
  signalfd_siginfo signal{};
  bool told = false;
  while (::read(signals_.get(), &signal, sizeof signal) == static_cast<ssize_t>(sizeof signal))
    told = told || signal.ssi_signo != SIGINT || ::getppid() != parent_;
  return told;
}

bool ParentWatch::wait(std::optional<std::chrono::milliseconds> patience) {
  const auto until = Clock::now() + patience.value_or(std::chrono::milliseconds(0));
  while (!ended_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (patience && left.count() < 0) return false;
    std::array<pollfd, 2> fds{pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{signals_.get(), POLLIN, 0}};
    const int ready = ::poll(fds.data(), fds.size(), patience ? static_cast<int>(left.count()) : -1);
    if (ready == 0) return false;
    if (ready < 0) continue;  // a signal that was not taken over
    // An input that was never open reads as an error, which is its end too.
    ended_ = (fds[0].revents != 0 && input_ended()) || (fds[1].revents != 0 && told_to_end());
  }
  return true;
}

}  // namespace pgtune::worker
