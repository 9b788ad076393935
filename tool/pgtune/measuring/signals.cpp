// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/signals.hpp"

#include <unistd.h>

#include <csignal>

namespace pgtune::tool {
namespace {

std::atomic<bool> stop_requested{false};
std::atomic<int> received_signal{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler may only touch lock-free atomics");

void on_signal(int signal) {
  if (stop_requested.exchange(true)) _exit(128 + signal);
  received_signal = signal;
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
