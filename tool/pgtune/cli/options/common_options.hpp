// SPDX-License-Identifier: MIT
// Options that several commands share: --db, --device, --template, --json.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace pgtune::tool {

inline constexpr const char* kProblemGroup = "Problem";
inline constexpr const char* kOutputGroup = "Output";

void add_database_option(CLI::App& app, std::string& database);
void add_template_option(CLI::App& app, std::string& selector);
void add_device_option(CLI::App& app, std::string& device);
void add_json_option(CLI::App& app, bool& json);

}  // namespace pgtune::tool
