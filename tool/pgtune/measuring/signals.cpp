// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/signals.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <ctime>

namespace pgtune::tool {
namespace {

/// A signal sooner than this after the first is the same request: timeout(1) signals its child, and then the child's
/// process group.
constexpr std::int64_t kSameRequest_ns = 200'000'000;

std::atomic<bool> stop_requested{false};
std::atomic<int> received_signal{0};
std::atomic<std::int64_t> first_ns{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free &&
                  std::atomic<std::int64_t>::is_always_lock_free,
              "a signal handler may only touch lock-free atomics");

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);  // may be called in a signal handler
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void on_signal(int signal) {
  const std::int64_t now = now_ns();
  if (std::int64_t none = 0; first_ns.compare_exchange_strong(none, now)) {
    received_signal = signal;
    stop_requested = true;
  } else if (now - none >= kSameRequest_ns) {
    _exit(128 + signal);
  }
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  // No SA_RESTART: a wait for the device must return so that the flag is seen.
  sigaction(signal, &action, nullptr);
}

}  // namespace

StopSignals::StopSignals() {
  stop_requested = false;
  received_signal = 0;
  first_ns = 0;
  handle(SIGINT, on_signal);
  handle(SIGTERM, on_signal);
}

StopSignals::~StopSignals() {
  handle(SIGINT, SIG_DFL);
  handle(SIGTERM, SIG_DFL);
}

const std::atomic<bool>& StopSignals::flag() const { return stop_requested; }

std::optional<ExitCode> StopSignals::exit_code() const {
  switch (received_signal.load()) {
    case SIGINT:
      return ExitCode::kInterrupted;
    case SIGTERM:
      return ExitCode::kTerminated;
    default:
      return std::nullopt;
  }
}

}  // namespace pgtune::tool
