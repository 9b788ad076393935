// SPDX-License-Identifier: MIT
// A program that locks clocks through ClockGuard and then ends in the way it is told, for clock_guard_test.cpp.
//   pgtune-guard-parent WORKER return|throw|wait|work
// It prints "locked" once they are. return: the guard goes out of scope; throw: an exception passes it; wait: until a
// signal ends the process; work: on SIGINT goes on for 300 ms, says whether the lock still holds, and releases.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>

#include "tool/pgtune/measuring/clock_guard.hpp"

namespace {

volatile std::sig_atomic_t interrupted = 0;

int end_as_told(pgtune::tool::ClockGuard guard, const std::string& how) {
  if (how == "throw") throw std::runtime_error("told to throw");
  while (how == "wait") ::pause();
  if (how == "return") return 0;
  while (interrupted == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  std::puts(guard.holds() ? "holds" : "lost");
  return guard.release() ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 64;
  const std::string how = arguments[2];
  if (how == "work") std::signal(SIGINT, [](int) { interrupted = 1; });
  auto guard = pgtune::tool::ClockGuard::lock(arguments[1], "GPU-known", std::nullopt);
  if (!guard) return 65;
  std::puts("locked");
  std::fflush(stdout);
  try {
    return end_as_told(std::move(*guard), how);
  } catch (const std::runtime_error&) {
    return 4;
  }
}
