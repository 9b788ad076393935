// SPDX-License-Identifier: MIT
// The race: variants whose screening is near the best meet in short rounds, and leave as soon as they are clearly
// slower than the best of them. Who is left goes to the final.
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/session/context.hpp"
#include "tuner/session/pipeline/search_state.hpp"
#include "tuner/session/progress_reporter.hpp"
#include "tuner/session/rounds/rounds.hpp"

namespace pgtune::session {

struct RaceResult {
  /// Into the state: who is left, fastest first. Empty where there was no race, or time for fewer than three rounds.
  std::vector<std::size_t> order;
  std::int64_t entrants = 0;             ///< 0: no race
  double time_s = 0;                     ///< device time of its samples
  std::vector<Sample> baseline_samples;  ///< of the baseline's best algorithm
  std::vector<int> algorithms = {};      ///< of the baseline, those that came through, fastest first
  RoundRunner::End end = RoundRunner::End::kRan;
};

/// No race where there are no more entrants than finalists. Each round has all survivors and the four of the
/// baseline's algorithms that screened best; it ends with as many survivors as finalists, after options.race_rounds
/// rounds, or when a time budget needs the rest for the final. Who fails is out and gets the failure as its outcome.
/// `margin`: of ties. Precondition: nothing in flight. Errors: those of the device.
[[nodiscard]] Result<RaceResult> run_race(const SessionContext& context, SearchState& state,
                                          const BaselineReport& baseline, double margin, ProgressReporter& progress,
                                          RoundTroubles& troubles);

}  // namespace pgtune::session
