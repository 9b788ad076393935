// SPDX-License-Identifier: MIT
// One finished search with what is needed to show it.
#pragma once

#include <string>

#include "tool/pgtune/measuring/counter_report.hpp"
#include "tool/pgtune/measuring/device_choice.hpp"
#include "tuner/session/search_session.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

struct SearchOutcome {
  Problem problem;
  space::TemplateSet templates;  ///< it and the device: of answering()
  DeviceChoice device;
  Conditions conditions;
  session::SearchResult result;
  std::string database;                        ///< file the answer is stored in
  std::optional<CounterReport> counters = {};  ///< of the winner; nothing where they were not asked for
};

}  // namespace pgtune::tool
