// SPDX-License-Identifier: MIT
// Two sets of results of the same problems put side by side: what got faster, what slower, beyond the noise.
#pragma once

#include <string>
#include <vector>

#include "tool/pgtune/report/stored_results.hpp"
#include "tuner/session/answer/held.hpp"

namespace pgtune::tool {

/// One problem before and after, on GPUs of one kind under the same conditions.
struct ComparedResult {
  const StoredResult* before = nullptr;
  const StoredResult* after = nullptr;
  /// Of the winners' ratios to the baseline of their own sessions, in which clocks and temperature cancel.
  session::Held change = session::Held::kUnclear;
  double speed_ratio = 0;     ///< the winner's time before over its time after: > 1 is faster now
  double baseline_ratio = 0;  ///< the same of cuBLASLt's best; 0 where it was not measured twice
};

/// Each result of `after` with the one of `before` for the same problem, kind of GPU (whatever its driver), source and
/// conditions, in the order of `after`; of several candidates those of the newest session. Pointers into both.
[[nodiscard]] std::vector<ComparedResult> compare_results(const std::vector<StoredResult>& before,
                                                          const std::vector<StoredResult>& after);

}  // namespace pgtune::tool
