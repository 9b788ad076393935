// SPDX-License-Identifier: MIT
// A finished search as the object --json prints.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tool/pgtune/report/search_outcome.hpp"

namespace pgtune::tool {

/// "locked_sm_clock_hz" is null where the clock was observed; "key" is Conditions::key().
[[nodiscard]] nlohmann::json conditions_json(const Conditions& conditions);

/// The names of the templates that were measured in another version than this build's.
[[nodiscard]] nlohmann::json other_versions_json(const std::vector<space::OtherVersion>& others);

/// SI units throughout; "best" is null when nothing was valid.
[[nodiscard]] nlohmann::json result_json(const SearchOutcome& outcome);

}  // namespace pgtune::tool
