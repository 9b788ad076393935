// SPDX-License-Identifier: MIT
// One finished search with what is needed to show it.
#pragma once

#include <optional>
#include <string>

#include "tool/pgtune/cli/exit_code.hpp"
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
  std::string database;  ///< file the answer is stored in
};

/// What the search ends with: the signal's code where one interrupted it, kPartial where it gave up on void rounds. To
/// reach its budget is what it was asked for, and no end of a kind of its own.
[[nodiscard]] ExitCode exit_code(const session::SearchResult& result, std::optional<ExitCode> signal);

}  // namespace pgtune::tool
