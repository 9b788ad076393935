// SPDX-License-Identifier: MIT
// Gets the cubins of race and final in place: those of a resumed search were built long ago and the cache may have lost
// them.
#pragma once

#include <optional>
#include <vector>

#include "tuner/session/context.hpp"
#include "tuner/session/pipeline/search_state.hpp"
#include "tuner/session/rounds/rounds.hpp"

namespace pgtune::session {

/// A variant about to enter the race or the final.
struct BuiltFinalist {
  std::size_t index = 0;
  LaunchPlan plan;
  BuildInfo build;
};

/// Plans and builds the given variants (from the cubin cache, where they are in it). A variant that no longer builds,
/// or whose machine code is quarantined by now, is left out, and the failure replaces its outcome in state and store.
/// Nothing when the stop flag was set meanwhile. Precondition: nothing in flight. Errors: those of the device.
[[nodiscard]] Result<std::optional<std::vector<BuiltFinalist>>> build_finalists(
    const SessionContext& context, SearchState& state, const std::vector<std::size_t>& indices);

/// Their entries for rounds, in the same order.
[[nodiscard]] std::vector<RoundEntry> variant_entries(const SearchState& state, std::vector<BuiltFinalist> finalists);

/// Replaces a variant's outcome by a failure found after screening, keeping its check and samples.
void record_failure(const SessionContext& context, SearchState& state, std::size_t index, const Outcome& outcome);

}  // namespace pgtune::session
