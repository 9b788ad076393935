// SPDX-License-Identifier: MIT
#include "tool/pgtune/cluster/slurm_time.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <optional>
#include <vector>

namespace pgtune::tool {

Result<double> parse_slurm_time(std::string_view text) {
  const auto refused = [&] {
    return fail(ErrorKind::kUsage, fmt::format("--time '{}' is no time of Slurm's. Give minutes, HH:MM:SS or D-HH:MM, "
                                               "such as 02:00:00 for two hours.",
                                               text));
  };
  std::string_view rest = text;
  const auto number = [&rest]() -> std::optional<double> {
    std::size_t digits = 0;
    double value = 0;
    while (digits < rest.size() && digits < 8 && std::isdigit(static_cast<unsigned char>(rest[digits])) != 0)
      value = 10 * value + (rest[digits++] - '0');
    rest.remove_prefix(digits);
    return digits == 0 ? std::nullopt : std::optional(value);
  };
  double days = 0;
  const bool has_days = text.find('-') != std::string_view::npos;
  if (has_days) {
    const auto value = number();
    if (!value || !rest.starts_with('-')) return refused();
    days = *value;
    rest.remove_prefix(1);
  }
  std::vector<double> parts;
  while (parts.size() < 3) {
    const auto value = number();
    if (!value) return refused();
    parts.push_back(*value);
    if (!rest.starts_with(':')) break;
    rest.remove_prefix(1);
  }
  if (!rest.empty()) return refused();
  constexpr double kHour = 3600, kMinute = 60;
  double seconds = 24 * kHour * days;
  // After days the first part is hours; without, one part is minutes and two are minutes and seconds.
  const std::size_t skipped = has_days || parts.size() == 3 ? 0 : 1;
  constexpr std::array units{kHour, kMinute, 1.0};
  for (std::size_t i = 0; i < parts.size(); ++i) seconds += parts[i] * units[i + skipped];
  if (seconds <= 0) return refused();
  return seconds;
}

}  // namespace pgtune::tool
