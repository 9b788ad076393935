// SPDX-License-Identifier: MIT
// Screening that several boards share (SplitScreen): the leader's stage, and the only one of a helper.
#pragma once

#include "tuner/search/strategy.hpp"
#include "tuner/session/session_run.hpp"

namespace pgtune::session {

/// Like screening_stage(), together with the helpers of the context's split screening. What they found, and would race
/// had it been screened here, is screened here again: boards of a class differ by some percent.
[[nodiscard]] Result<void> split_screening_stage(SessionRun& run, search::Strategy& strategy, double reserve_s);

/// A helper's: screens its share of what the leader's strategy proposes, as soon as that screening is open.
[[nodiscard]] Result<void> helping_stage(SessionRun& run);

}  // namespace pgtune::session
