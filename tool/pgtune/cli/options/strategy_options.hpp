// SPDX-License-Identifier: MIT
// --strategy: how a search chooses variants.
#pragma once

#include <string>

#include "tool/pgtune/cli/command_line.hpp"
#include "tuner/search/strategies.hpp"

namespace pgtune::tool {

/// `strategy` has the default when this is called.
Option add_strategy_option(CommandLine& app, std::string& strategy);
/// Throws CommandError (usage) with the names there are.
void require_strategy(const std::string& name);

}  // namespace pgtune::tool
