// SPDX-License-Identifier: MIT
#include "tuner/session/session.hpp"

#include <fmt/chrono.h>

#include <chrono>
#include <ctime>
#include <thread>

namespace pgtune::session {

Clock system_clock() {
  Clock clock;
  clock.now_s = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  clock.utc_iso8601 = [] { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); };
  clock.sleep_s = [](double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); };
  return clock;
}

}  // namespace pgtune::session
