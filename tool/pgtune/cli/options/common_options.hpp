// SPDX-License-Identifier: MIT
// Options that several commands share: --db, --device, --template, --grid, --json.
#pragma once

#include <string>

#include "tool/pgtune/cli/command_line.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

inline constexpr const char* kProblemGroup = "Problem";
inline constexpr const char* kOutputGroup = "Output";

Option add_database_option(CommandLine& app, std::string& database);
Option add_template_option(CommandLine& app, std::string& selector);
/// Read by choose_device().
Option add_device_option(CommandLine& app, std::string& device);
/// The same of commands that need no GPU, read by device_or_architecture().
Option add_device_or_architecture_option(CommandLine& app, std::string& device);
Option add_json_option(CommandLine& app, bool& json);

/// --grid: how much of the templates' spaces a search covers.
class GridOption {
 public:
  /// `otherwise`: what it says is searched where it is not given.
  Option add_to(CommandLine& app, const std::string& otherwise);
  /// The templates as chosen: with their presets, or beyond them, as `beyond` says where nothing was chosen.
  [[nodiscard]] space::TemplateSet of(space::TemplateSet templates, bool beyond) const;

 private:
  std::string grid_;
};

}  // namespace pgtune::tool
