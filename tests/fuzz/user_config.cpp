// SPDX-License-Identifier: MIT
// The user's configuration file.
#include "tool/pgtune/cli/user_config.hpp"

#include "tests/fuzz/targets.hpp"
#include "tool/pgtune/cli/command_error.hpp"

namespace pgtune::fuzz {

void user_config(std::string_view bytes) {
  const auto environment = [](const char*) { return std::optional<std::string>("/home/user"); };
  try {
    static_cast<void>(tool::UserConfig::parse(std::string(bytes), "config.json", environment));
  } catch (const tool::CommandError&) {
    // How the tool refuses.
  }
}

}  // namespace pgtune::fuzz
