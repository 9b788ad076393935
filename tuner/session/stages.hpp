// SPDX-License-Identifier: MIT
// The stages of sessions. Each measures one thing on the prepared device, saves it in the session begun in the
// context's store, and leaves what it found in the run. Errors: those of the device.
#pragma once

#include <cstddef>

#include "tuner/session/pipeline/pipeline.hpp"
#include "tuner/session/session_run.hpp"

namespace pgtune::session {

/// The GPU's ceilings, once for a device and its driver. What fails here becomes a note.
[[nodiscard]] Result<void> ceilings_stage(SessionRun& run);

/// Whether the problem meets the power cap, and the plan of race, final and confirm rounds that follows. Where it does,
/// progress says so and how long they will take.
[[nodiscard]] Result<void> steady_stage(SessionRun& run, AfterSteady what);

/// The noise floor, and the margin of ties that follows from it.
[[nodiscard]] Result<void> floor_stage(SessionRun& run);

/// Builds, checks and screens what the pipeline's strategy proposes. `reserve_s`: of a time budget, for the stages that
/// follow.
[[nodiscard]] Result<void> screening_stage(SessionRun& run, Pipeline& pipeline, double reserve_s);

[[nodiscard]] Result<void> race_stage(SessionRun& run);

/// The final, and its ranking; of as many rounds as were run, where it was interrupted. Where short samples meet the
/// power cap, though the baseline alone did not, race and final are made again in settled samples; where the run has
/// ended, a note says what that means.
[[nodiscard]] Result<void> final_stage(SessionRun& run);

/// Makes the answer's ranking of what is left of the run's final, and of its confirm rounds where the winner is in
/// them. Precondition: a variant is left.
void rank_final_of(SessionRun& run);

enum class EnergyOf { kWinner, kEveryFinalist };

/// Energy after a whole final, and the order by the objective where that is one of energy. What fails here becomes a
/// note: the final's times stand.
[[nodiscard]] Result<void> energy_stage(SessionRun& run, EnergyOf whose);

/// Ranks by screening where there was no final to rank by.
[[nodiscard]] Result<void> screening_ranking_stage(SessionRun& run);

/// The variants of the state at `indices` with their samples of screening.
[[nodiscard]] std::vector<MeasuredVariant> screened_variants(const SessionContext& context, const SearchState& state,
                                                             const std::vector<std::size_t>& indices);

}  // namespace pgtune::session
