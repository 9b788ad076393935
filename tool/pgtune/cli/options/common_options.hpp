// SPDX-License-Identifier: MIT
// Options that several commands share: --db, --device, --template, --json.
#pragma once

#include <string>

#include "tool/pgtune/cli/command_line.hpp"

namespace pgtune::tool {

inline constexpr const char* kProblemGroup = "Problem";
inline constexpr const char* kOutputGroup = "Output";

void add_database_option(CommandLine& app, std::string& database);
void add_template_option(CommandLine& app, std::string& selector);
void add_device_option(CommandLine& app, std::string& device);
void add_json_option(CommandLine& app, bool& json);

}  // namespace pgtune::tool
