// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/options/common_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "tool/pgtune/cli/command_error.hpp"

namespace pgtune::tool {

Option add_database_option(CommandLine& app, std::string& database) {
  return app
      .add_option(
          "--db", database,
          "Database (default: PGTUNE_DB, else the configuration file's, else pgtune/pgtune.db in XDG_DATA_HOME)")
      .option_text("FILE");
}

std::string database_option_text(const std::string& database) {
  return database.empty() ? "" : " --db " + shown_word(database);
}

std::string shell_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string shown_word(std::string_view text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+:@%,=";
  const bool plain = !text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos;
  return plain ? std::string(text) : shell_word(text);
}

Option add_template_option(CommandLine& app, std::string& selector) {
  return app.add_option("--template", selector, "A built-in template, or the path of your own template's JSON")
      .option_text("NAME|FILE.json");
}

Option add_include_folder_option(CommandLine& app, std::vector<std::string>& folders) {
  return app
      .add_option("--include-folder", folders,
                  "Folder in which your own template's includes are looked for, after those that its JSON declares; "
                  "repeatable")
      .option_text("FOLDER")
      .one_value_each();
}

Option add_device_option(CommandLine& app, std::string& device) {
  return app
      .add_option("--device", device,
                  "auto (first GPU; without one, a search prints recorded answers), a number or UUID, several of these "
                  "with commas, all, or recording[:FILE]")
      .option_text("DEVICE")
      .complete_with({"auto", "all", "recording"});
}

Option add_device_or_architecture_option(CommandLine& app, std::string& device) {
  return app
      .add_option("--device", device,
                  "auto, a GPU's number or UUID, recording, recording:FILE, or an architecture such as sm_90a, for "
                  "which no GPU is needed")
      .option_text("DEVICE")
      .complete_with({"auto", "recording"});
}

Option add_json_option(CommandLine& app, bool& json) {
  return app.add_flag("--json", json, "Print JSON on standard output").group(kOutputGroup);
}

Option GridOption::add_to(CommandLine& app, const std::string& otherwise) {
  return app
      .add_option(
          "--grid", grid_,
          "preset: the variants of each template's preset; full: every legal variant (default: " + otherwise + ")")
      .option_text("NAME")
      .one_of({"preset", "full"});
}

space::TemplateSet GridOption::of(space::TemplateSet templates, bool beyond) const {
  const bool full = grid_.empty() ? beyond : grid_ == "full";
  return full ? templates.whole_grid() : std::move(templates);
}

namespace {

template <typename Number>
std::optional<Number> parse_whole(std::string_view text) {
  Number value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> seconds_per_unit(char unit) {
  switch (unit) {
    case 's':
      return 1.0;
    case 'm':
      return 60.0;
    case 'h':
      return 3600.0;
    default:
      return std::nullopt;
  }
}

std::optional<double> positive_seconds(const std::string& text) {
  const auto unit = text.empty() ? std::nullopt : seconds_per_unit(text.back());
  if (!unit) return std::nullopt;
  const auto number = parse_whole<double>(std::string_view(text).substr(0, text.size() - 1));
  if (!number || !std::isfinite(*number) || *number <= 0) return std::nullopt;
  return *number * *unit;
}

}  // namespace

std::int64_t parse_count(const std::string& option, const std::string& text, std::int64_t least) {
  const auto value = parse_whole<std::int64_t>(text);
  if (!value || *value < least)
    throw CommandError(
        ErrorKind::kUsage,
        fmt::format("{} '{}' is not a whole number of {} or more that fits 64 bits. Give a decimal number.", option,
                    text, least));
  return *value;
}

int parse_rounds(const std::string& text, int least) {
  constexpr std::int64_t kMost = 10'000;
  const std::int64_t rounds = parse_count("--rounds", text, 1);
  if (rounds < least)
    throw CommandError(ErrorKind::kUsage,
                       fmt::format("--rounds {} are too few for an interval. Give at least {}.", text, least));
  if (rounds > kMost)
    throw CommandError(ErrorKind::kUsage, fmt::format("--rounds {} are too many. Give {} at most.", text, kMost));
  return static_cast<int>(rounds);
}

double parse_real(const std::string& option, const std::string& text) {
  const auto value = parse_whole<double>(text);
  if (!value || !std::isfinite(*value))
    throw CommandError(ErrorKind::kUsage,
                       fmt::format("{} '{}' is not a finite number. Give a decimal number such as 0.5.", option, text));
  return *value;
}

double parse_seconds(const std::string& option, const std::string& text) {
  const auto seconds = positive_seconds(text);
  if (!seconds)
    throw CommandError(ErrorKind::kUsage, fmt::format("{} '{}' is not a time. Give 60s, 5m or 1h.", option, text));
  return *seconds;
}

double parse_budget(const std::string& text, const char* count_option) {
  if (const auto number = parse_whole<double>(text); number && *number > 0)
    throw CommandError(
        ErrorKind::kUsage,
        fmt::format("--budget '{0}' has no unit. Give --budget {0}s for a time, or {1} {0} for a number.", text,
                    count_option));
  return parse_seconds("--budget", text);
}

Option add_strategy_option(CommandLine& app, std::string& strategy) {
  std::string description = "Order of variants:";
  std::vector<std::string_view> names;
  for (const search::StrategyInfo& info : search::strategies()) {
    names.push_back(info.name);
    description += fmt::format("{} {}{} ({})", &info == &search::strategies().front() ? "" : ";", info.name,
                               info.name == search::kDefaultStrategy ? ", the default" : "", info.description);
  }
  return app.add_option("--strategy", strategy, description).option_text("NAME").complete_with(names);
}

void require_strategy(const std::string& name) {
  if (search::find_strategy(name) == nullptr)
    throw CommandError(ErrorKind::kUsage,
                       fmt::format("unknown --strategy '{}'. Give {}.", name, search::strategy_names()));
}

}  // namespace pgtune::tool
