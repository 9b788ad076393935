// SPDX-License-Identifier: MIT
// Options that several commands share: --db, --device, --template, --grid, --json.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tool/pgtune/cli/command_line.hpp"
#include "tuner/search/strategies.hpp"
#include "tuner/session/search_session.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

inline constexpr const char* kProblemGroup = "Problem";
inline constexpr const char* kOutputGroup = "Output";

Option add_database_option(CommandLine& app, std::string& database);
/// " --db FILE" with the file as it was given, for commands that are printed; empty where it was not.
[[nodiscard]] std::string database_option_text(const std::string& database);
/// As one word of a POSIX shell.
[[nodiscard]] std::string shell_word(std::string_view text);
/// The same for people: in quotes only where it needs them.
[[nodiscard]] std::string shown_word(std::string_view text);
Option add_template_option(CommandLine& app, std::string& selector);
/// Where templates of one's own find headers that they do not bring along.
Option add_include_folder_option(CommandLine& app, std::vector<std::string>& folders);
/// Read by choose_device().
Option add_device_option(CommandLine& app, std::string& device);
/// The same for commands that need no GPU, read by device_or_architecture().
Option add_device_or_architecture_option(CommandLine& app, std::string& device);
Option add_json_option(CommandLine& app, bool& json);

/// --grid: how much of the templates' spaces a search covers.
class GridOption {
 public:
  /// `otherwise`: the help's description of the default.
  Option add_to(CommandLine& app, const std::string& otherwise);
  /// The templates as chosen: limited to their presets or not; `beyond` is the default.
  [[nodiscard]] space::TemplateSet of(space::TemplateSet templates, bool beyond) const;

 private:
  std::string grid_;
};

// Numbers and durations of options. CLI11 reads 010 as octal and truncates large numbers, so options take text.

/// A whole number from `least` on. Throws CommandError (usage) naming the option.
[[nodiscard]] std::int64_t parse_count(const std::string& option, const std::string& text, std::int64_t least);
/// --rounds; `least`: those of which there is an interval. Throws CommandError (usage).
[[nodiscard]] int parse_rounds(const std::string& text, int least = 1);
/// A finite decimal number. Throws CommandError (usage) naming the option.
[[nodiscard]] double parse_real(const std::string& option, const std::string& text);
/// A positive time: "60s", "5m", "1h". Throws CommandError (usage) naming the option.
[[nodiscard]] double parse_seconds(const std::string& option, const std::string& text);
/// --budget: likewise. Throws CommandError (usage), which names `count_option` for a number without a unit.
[[nodiscard]] double parse_budget(const std::string& text, const char* count_option);

// --strategy: how a search chooses variants.

/// `strategy` has the default when this is called.
Option add_strategy_option(CommandLine& app, std::string& strategy);
/// Throws CommandError (usage), which lists the names.
void require_strategy(const std::string& name);

}  // namespace pgtune::tool
