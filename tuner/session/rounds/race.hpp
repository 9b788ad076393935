// SPDX-License-Identifier: MIT
// The race: variants whose screening is near the best meet in short rounds, and leave as soon as they are clearly
// slower than the best of them. The survivors go to the final. At the power cap it is one round, in samples with a
// lead-in.
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/model/sampling.hpp"
#include "tuner/session/rounds/rounds.hpp"

namespace pgtune::session {

struct RaceResult {
  /// Into the state: the survivors, fastest first. Empty where there was no race, or time for fewer than three rounds.
  std::vector<std::size_t> order;
  std::int64_t entrants = 0;             ///< 0: no race
  double time_s = 0;                     ///< device time of its samples
  std::vector<Sample> baseline_samples;  ///< of the baseline's best algorithm
  std::vector<int> algorithms = {};      ///< of the baseline, those that came through, fastest first
  RoundRunner::End end = RoundRunner::End::kRan;
};

/// The race in short samples: none where there are no more entrants than finalists. Each round has all survivors and
/// the four of the baseline's algorithms that screened best; it ends with as many survivors as finalists, after
/// options.race_rounds rounds, or when a time budget needs the rest for the final. `margin`: of ties.
/// At the power cap, in settled samples: the one round of settled_race_plan() over variants, those that screened
/// fastest and those of the fewest cycles in turns, and the algorithms of the baseline that screened best. The order
/// holds all that came through. No race where there is only one variant. A variant that fails is out and gets the
/// failure as its outcome. Precondition: nothing in flight. Errors: those of the device.
[[nodiscard]] Result<RaceResult> run_race(RoundContext& rounds, const BaselineReport& baseline, Sampling sampling,
                                          double margin);

}  // namespace pgtune::session
