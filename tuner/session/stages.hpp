// SPDX-License-Identifier: MIT
// A session's stages on a prepared device: ceilings, noise floor, search, race, final, energy; and the ranking that
// comes of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tuner/session/answer/ranking.hpp"
#include "tuner/session/context.hpp"
#include "tuner/session/pipeline/search_state.hpp"
#include "tuner/session/progress_reporter.hpp"

namespace pgtune::session {

struct Measured {
  std::optional<Ranking> ranking;
  bool exhausted = false;   ///< every proposal was tried
  bool from_final = false;  ///< the ranking is that of a whole final
  bool interrupted = false;
  bool budget_reached = false;
  bool gave_up = false;  ///< race or final ended because too many rounds in a row were void
  NoiseFloor floor;
  StageTimes times;
  std::int64_t raced = 0;
  int voided_rounds = 0;
  std::optional<EnergySummary> baseline_energy;
  std::optional<double> idle_power_w;
  std::vector<std::string> notes;
};

/// Runs the stages over what the state already knows; the session begun in the context's store gets what is measured.
/// An interrupt or a give-up ends them; the ranking is then that of the final's rounds so far, or of screening alone.
/// Errors: those of the device up to the final. What fails in ceilings or energy becomes a note.
[[nodiscard]] Result<Measured> run_stages(const Context& context, SearchState& state, const BaselineReport& baseline,
                                          ProgressReporter& progress);

}  // namespace pgtune::session
