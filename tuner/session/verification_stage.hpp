// SPDX-License-Identifier: MIT
// After the final: its best are checked again as they were timed, and whoever fails is out of the answer.
#pragma once

#include <cstdint>

#include "tuner/session/session_run.hpp"

namespace pgtune::session {

/// Launches after which a fault that hits one launch with the probability `rate` has been seen with `confidence`.
[[nodiscard]] std::int64_t launches_that_find(double rate, double confidence);

/// One launch in fifty, with 99.9 %.
inline constexpr double kFoundRate = 0.02, kFoundConfidence = 0.999;
/// Expected device time for finalists other than the winner, who is always verified.
inline constexpr double kOtherFinalists_s = 0.75;
/// Seconds of a problem's verification that are worth a word.
inline constexpr double kToldFrom_s = 2;
/// Device time that a winner's verification has even where a time budget is used up: at the power cap the final alone
/// may take a budget's seconds.
inline constexpr double kWinnerOverBudget_s = 0.5;
/// Of a winner whose launches take too long for more.
inline constexpr std::int64_t kLeastVerifyLaunches = 32;

/// Verifies the ranking from the winner down, with launches_that_find(kFoundRate, kFoundConfidence) each: the winner
/// always (with fewer launches where they take longer than a time budget has left and kWinnerOverBudget_s), those that
/// follow while their device time is expected to stay within kOtherFinalists_s; everybody where energy decides who
/// wins. Who fails gets the outcome in state and store, and the ranking is made anew without it; where nobody is left,
/// the next best variants have a final of their own. What was done becomes a note, with its time where that is more
/// than kToldFrom_s; StageTimes::verify_s has it always. Does nothing without a whole final. Errors: those of the
/// device and of a final.
[[nodiscard]] Result<void> verification_stage(SessionRun& run);

}  // namespace pgtune::session
