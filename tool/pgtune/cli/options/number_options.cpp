// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/options/number_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "tool/pgtune/cli/command_error.hpp"

namespace pgtune::tool {
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

int parse_rounds(const std::string& text) {
  constexpr std::int64_t kMost = 10'000;
  return static_cast<int>(std::min(parse_count("--rounds", text, 1), kMost));
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

session::Budget parse_budget(const std::string& text) {
  session::Budget budget;
  if (const auto seconds = positive_seconds(text)) {
    budget.seconds = *seconds;
  } else if (const auto trials = parse_whole<std::int64_t>(text); trials && *trials > 0) {
    budget.trials = *trials;
  }
  if (!budget.seconds && !budget.trials)
    throw CommandError(ErrorKind::kUsage,
                       fmt::format("--budget '{}' is neither a time nor a number of variants. Give 60s, 5m or 1h, or a "
                                   "number such as 500.",
                                   text));
  return budget;
}

}  // namespace pgtune::tool
