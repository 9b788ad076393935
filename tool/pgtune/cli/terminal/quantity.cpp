// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/terminal/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pgtune::tool {

std::string duration_text(double seconds) {
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1e3);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
}

std::string four_digits(double value) {
  if (!(value > 0)) return "-";
  const double decimals = std::clamp(3 - std::floor(std::log10(value)), 0.0, 6.0);
  return fmt::format("{:.{}f}", value, static_cast<int>(decimals));
}

std::string milliseconds_text(double seconds) { return four_digits(seconds * 1e3); }

std::string tflops_text(double flops, double seconds) {
  return seconds > 0 ? fmt::format("{:.2f}", flops / seconds * 1e-12) : "-";
}

std::string speed_text(const Problem& problem, double seconds) {
  if (problem.speed_unit() == kFlopsUnit) return tflops_text(problem.flops(), seconds);
  return fmt::format("{:.0f}", problem.speed(seconds));
}

std::string kibibytes_text(std::int64_t bytes) { return fmt::format("{:.1f}", static_cast<double>(bytes) / 1024); }

}  // namespace pgtune::tool
