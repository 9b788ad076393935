// SPDX-License-Identifier: MIT
// A finished search as the object of --json.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

#include "tool/pgtune/measuring/device_choice.hpp"
#include "tool/pgtune/measuring/stored_counters.hpp"
#include "tool/pgtune/report/answer_text.hpp"
#include "tuner/session/search_session.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

// One finished search with the data to show it.

struct SearchOutcome {
  Problem problem;
  space::TemplateSet templates;  ///< that were searched
  DeviceChoice device;
  Conditions conditions;
  session::SearchResult result;
  std::string database_option;                 ///< database_option_text() for commands that are printed
  std::optional<CounterReport> counters = {};  ///< of the winner; nothing where they were not asked for
  std::optional<Ceilings> ceilings = {};       ///< of the device, where they are known
  /// Version of the pgtune that measured a recorded answer; nothing where it was measured on this machine.
  std::optional<std::string> recorded_by = {};
  std::vector<OtherVersion> other_versions = {};  ///< of a recorded answer: the best variant's, if any
};

/// "locked_sm_clock_hz" is null if the clock was observed; "key" is Conditions::key().
[[nodiscard]] nlohmann::json conditions_json(const Conditions& conditions);

/// One row of a ranking, whose times are of a whole final or of screening; null if not measured.
[[nodiscard]] nlohmann::json ranked_json(const session::RankedVariant& ranked, const Problem& problem, bool from_final);

/// The ranking's first, with the variants that tie with it and the baseline's clock.
[[nodiscard]] nlohmann::json best_json(const session::Answer& answer, const Problem& problem);

/// SI units throughout; "best" is best_json(), which is null when nothing was valid.
[[nodiscard]] nlohmann::json result_json(const SearchOutcome& outcome);

}  // namespace pgtune::tool
