// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/options/strategy_options.hpp"

#include <fmt/format.h>

#include "tool/pgtune/cli/command_error.hpp"

namespace pgtune::tool {

Option add_strategy_option(CommandLine& app, std::string& strategy) {
  std::string description = "Which variants come first:";
  for (const search::StrategyInfo& info : search::strategies())
    description += fmt::format("{} {}{} ({})", &info == &search::strategies().front() ? "" : ";", info.name,
                               info.name == search::kDefaultStrategy ? ", the default" : "", info.description);
  return app.add_option("--strategy", strategy, description).option_text("NAME");
}

void require_strategy(const std::string& name) {
  if (search::find_strategy(name) == nullptr)
    throw CommandError(ErrorKind::kUsage,
                       fmt::format("unknown --strategy '{}'. Give {}.", name, search::strategy_names()));
}

}  // namespace pgtune::tool
