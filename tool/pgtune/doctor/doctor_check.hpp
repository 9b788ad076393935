// SPDX-License-Identifier: MIT
// One thing `pgtune doctor` looked at.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tool/pgtune/cli/terminal/terminal.hpp"

namespace pgtune::tool {

enum class CheckState {
  kOk,
  kNote,     ///< pgtune works without it, or it asks for attention
  kMissing,  ///< a search on a GPU needs it
};

struct Check {
  std::string name;
  CheckState state = CheckState::kOk;
  std::string finding;
  std::string remedy;  ///< what to do; empty for kOk
};

/// From a message of the form "<cause>; <remedy>" or "<cause>. <remedy>".
[[nodiscard]] Check failed_check(std::string name, CheckState state, const std::string& message);

/// At most 80 columns: a line with name, state and finding, and one below it with the remedy.
[[nodiscard]] std::string checks_text(const std::vector<Check>& checks, const Terminal& terminal);
/// [{"name", "state": "ok" | "note" | "missing", "finding", "remedy"?}]
[[nodiscard]] nlohmann::json checks_json(const std::vector<Check>& checks);

}  // namespace pgtune::tool
