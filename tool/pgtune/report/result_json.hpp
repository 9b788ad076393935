// SPDX-License-Identifier: MIT
// A finished search as the object --json prints.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tool/pgtune/report/search_outcome.hpp"

namespace pgtune::tool {

/// "locked_sm_clock_hz" is null where the clock was observed; "key" is Conditions::key().
[[nodiscard]] nlohmann::json conditions_json(const Conditions& conditions);

/// One row of a ranking, whose times are of a whole final or of screening; null for what was not measured.
[[nodiscard]] nlohmann::json ranked_json(const session::RankedVariant& ranked, const Problem& problem, bool from_final);

/// The ranking's first, with what it was not told apart from and the baseline's clock.
[[nodiscard]] nlohmann::json best_json(const session::Answer& answer, const Problem& problem);

/// SI units throughout; "best" is best_json(), which is null when nothing was valid.
[[nodiscard]] nlohmann::json result_json(const SearchOutcome& outcome);

}  // namespace pgtune::tool
