// SPDX-License-Identifier: MIT
// One finished search with what is needed to show it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tool/pgtune/measuring/counter_report.hpp"
#include "tool/pgtune/measuring/device_choice.hpp"
#include "tool/pgtune/report/other_version.hpp"
#include "tuner/session/search_session.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

struct SearchOutcome {
  Problem problem;
  space::TemplateSet templates;  ///< that were searched
  DeviceChoice device;
  Conditions conditions;
  session::SearchResult result;
  std::string database;                        ///< file the answer is stored in
  std::optional<CounterReport> counters = {};  ///< of the winner; nothing where they were not asked for
  /// Version of the pgtune that measured a recorded answer; nothing where it was measured on this machine.
  std::optional<std::string> recorded_by = {};
  std::vector<OtherVersion> other_versions = {};  ///< of a recorded answer: the best variant's, if any
};

}  // namespace pgtune::tool
