// SPDX-License-Identifier: MIT
// How long the search of a problem will take, before anything of it was measured and wherever it will run: to deal many
// problems out evenly, and to say it first. Good to a factor of two on an H200, and to a tenth with a time budget.
#pragma once

#include <cstddef>

#include "tuner/session/session.hpp"

namespace pgtune::session {

struct ExpectedSearch {
  double seconds = 0;   ///< wall time
  double launch_s = 0;  ///< of cuBLASLt's best algorithm
  /// Whether it will probably meet the power cap, where race and final take settled samples.
  Sampling sampling = Sampling::kShort;
};

/// Pure. `compile_workers`: at least 1. Energy windows and a budget of either kind are taken into account.
[[nodiscard]] ExpectedSearch expected_search(const Problem& problem, const SessionOptions& options,
                                             std::size_t compile_workers);

/// Until the first problem of a process can be measured: driver, worker, cuBLASLt.
inline constexpr double kExpectedOpening_s = 4;

}  // namespace pgtune::session
