// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include "tool/worker/roles.hpp"
#include "tuner/gpu/nvml/clock_lock.hpp"
#include "tuner/protocol/codec.hpp"
#include "tuner/util/file_descriptor.hpp"

namespace pgtune::worker {
namespace {

/// For a child that has to outlive its parent by a moment: notices the parent's end, and what asks this process to end,
/// without dying of either.
class ParentWatch {
 public:
  /// Takes this process out of the parent's session where the kernel lets it (the leader of a process group, which
  /// pgtune makes its children, stays: its group gets no Ctrl-C either), keeps the kernel from killing it with the
  /// parent, and takes over SIGINT, SIGTERM, SIGHUP and SIGQUIT. Call once, before anything that must be undone.
  /// Errors (environment): the kernel refuses.
  [[nodiscard]] static Result<ParentWatch> start();

  /// Waits until it is time to end, or for `patience` (without one: no limit); true if it is time. It is time at the
  /// end of standard input, which any end of the parent closes; at SIGTERM, SIGHUP or SIGQUIT; and at SIGINT once the
  /// parent has ended, as the parent handles a Ctrl-C.
  [[nodiscard]] bool wait(std::optional<std::chrono::milliseconds> patience);

 private:
  ParentWatch(FileDescriptor signals, pid_t parent) : signals_(std::move(signals)), parent_(parent) {}
  [[nodiscard]] bool input_ended();
  [[nodiscard]] bool told_to_end();

  FileDescriptor signals_;  ///< signalfd(2)
  pid_t parent_;
  bool ended_ = false;
};

using Clock = std::chrono::steady_clock;

tl::unexpected<Error> refused(std::string_view action) {
  return fail(ErrorKind::kEnvironment, fmt::format("cannot {}: {}", action, std::generic_category().message(errno)));
}

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

using nlohmann::json;

constexpr protocol::RequestId kLock = 1, kRestore = 2;

Result<gpu::ClockLock> open_lock(const std::string& uuid) {
  const Result<gpu::Nvml> nvml = gpu::Nvml::open();
  if (!nvml) return fail(nvml.error(), "clocks are locked through NVML, the driver's library");
  return nvml->device(uuid).map([](gpu::NvmlDevice device) { return gpu::ClockLock(std::move(device)); });
}

json clock_json(const std::optional<int>& mhz) { return mhz ? json(*mhz) : json(); }

/// A parent that is gone does not read its answer; that is no error here, because the clocks come first.
void answer(LineChannel& channel, protocol::RequestId id, Result<json> body) {
  std::ignore = channel.write_line(protocol::encode(protocol::Reply{id, std::move(body), false}));
}

Result<void> restore(const gpu::ClockLock& lock, LineChannel& channel) {
  const Result<void> restored = lock.restore();
  answer(channel, kRestore, restored.map([&] { return json{{"sm_mhz", clock_json(lock.state().sm_mhz)}}; }));
  return restored;
}

Result<gpu::LockedClock> lock_clocks(const gpu::ClockLock& lock, const WorkerOptions& options, ParentWatch& watch) {
  return lock.choose(options.lock_mhz).and_then([&](int mhz) {
    return lock.lock(mhz, [&](std::chrono::milliseconds time) { return !watch.wait(time); });
  });
}

}  // namespace

Result<void> guard_clocks(const WorkerOptions& options, LineChannel& channel) {
  Result<ParentWatch> watch = ParentWatch::start();
  if (!watch) return tl::unexpected(std::move(watch.error()));
  const Result<gpu::ClockLock> lock = open_lock(options.gpu);
  if (watch->wait(std::chrono::milliseconds(0))) return {};  // the lock is no longer needed
  const Result<gpu::LockedClock> locked =
      lock.and_then([&](const gpu::ClockLock& opened) { return lock_clocks(opened, options, *watch); });
  if (!locked) {
    answer(channel, kLock, tl::unexpected(locked.error()));
    return tl::unexpected(locked.error());
  }
  answer(channel, kLock,
         json{{"locked_mhz", locked->mhz},
              {"verified", locked->verified},
              {"sm_mhz", clock_json(locked->after.sm_mhz)},
              {"before",
               {{"sm_mhz", clock_json(locked->before.sm_mhz)},
                {"applications_mhz", clock_json(locked->before.applications_mhz)}}}});
  std::ignore = watch->wait(std::nullopt);
  return restore(*lock, channel);
}

Result<void> restore_clocks(const WorkerOptions& options, LineChannel& channel) {
  const Result<gpu::ClockLock> lock = open_lock(options.gpu);
  if (lock) return restore(*lock, channel);
  answer(channel, kRestore, tl::unexpected(lock.error()));
  return tl::unexpected(lock.error());
}

}  // namespace pgtune::worker
