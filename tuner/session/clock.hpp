// SPDX-License-Identifier: MIT
// Time as a search sees it, and waiting; tests give their own.
#pragma once

#include <functional>
#include <string>

namespace pgtune::session {

struct Clock {
  std::function<double()> now_s;             ///< monotonic seconds from any origin
  std::function<std::string()> utc_iso8601;  ///< "2026-01-31T12:00:00Z"
  std::function<void(double)> sleep_s;       ///< returns after about that many seconds
};

[[nodiscard]] Clock system_clock();

}  // namespace pgtune::session
