// SPDX-License-Identifier: MIT
// After a final that only chooses: its winner is measured again, and the claims come from there.
#pragma once

#include "tuner/session/session_run.hpp"

namespace pgtune::session {

/// Confirm rounds where the plan has them and the final is whole. Who fails in them gets the outcome in state and store
/// and is out of the ranking; a winner that is not confirmed yet gets rounds of its own, and where nobody is left the
/// next best variants have a final. Where the runner-up turns out faster by more than the margin, it is declared, and a
/// note says so. Errors: those of the device, and a baseline that failed in every round.
[[nodiscard]] Result<void> confirm_stage(SessionRun& run);

/// The answer's best is among the run's confirm rounds.
[[nodiscard]] bool is_confirmed(const SessionRun& run);

}  // namespace pgtune::session
