// SPDX-License-Identifier: MIT
#include "tool/pgtune/page/compact.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace pgtune::tool {

nlohmann::json compact(double value, int digits) {
  if (!std::isfinite(value)) return nullptr;
  // By way of text: JSON writes the shortest digits that give the number back, and those are these.
  const double rounded = std::strtod(fmt::format("{:.{}e}", value, digits - 1).c_str(), nullptr);
  constexpr double kLargestWhole = 1e15;
  if (rounded == std::floor(rounded) && std::abs(rounded) < kLargestWhole)
    return static_cast<std::int64_t>(rounded);  // without ".0"
  return rounded;
}

nlohmann::json compact_positive(double value, int digits) {
  return value > 0 ? compact(value, digits) : nlohmann::json(nullptr);
}

std::size_t SharedTexts::number_of(const std::string& text) {
  const auto [place, added] = numbers_.try_emplace(text, texts_.size());
  if (added) texts_.push_back(text);
  return place->second;
}

}  // namespace pgtune::tool
