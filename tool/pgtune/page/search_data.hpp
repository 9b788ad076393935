// SPDX-License-Identifier: MIT
// What the page shows of one search: how the best time fell, every variant with its parameters, which parameters
// matter, and what became of those that failed.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "db/queries/records.hpp"
#include "tool/pgtune/page/compact.hpp"
#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {

/// {"tried", "timed", "progress": [[number of the trial, us], ...], "spaces": [one a template that has timed variants],
/// "outcomes": [[kind, reason, count], ...]}. A space is {"template", "timed", "parameters": [["NAME=value,value,...",
/// importance], ...], "rows": [[us, cut, index of each parameter's value...], ...]}: parameters that take several
/// values among the timed variants, the most important first, and of the variants the fastest and then others evenly,
/// as many as `variant_limit`. Reasons and parameters are numbers in `texts`.
[[nodiscard]] nlohmann::json search_data(const std::vector<db::PastTrialRow>& history, std::size_t variant_limit,
                                         SharedTexts& texts);

}  // namespace pgtune::tool
