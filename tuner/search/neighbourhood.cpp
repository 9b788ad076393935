// SPDX-License-Identifier: MIT
#include "tuner/search/neighbourhood.hpp"

#include <map>

#include "tuner/search/shuffle.hpp"

namespace pgtune::search {

Neighbourhood::Neighbourhood(std::span<const Variant> variants) {
  if (variants.empty()) return;
  std::vector<std::map<ParameterValue, std::uint32_t>> known(variants.front().parameters.size());
  points_.reserve(variants.size());
  for (const Variant& variant : variants) {
    Point point;
    for (std::size_t i = 0; i < known.size(); ++i)
      point.push_back(
          known[i].emplace(variant.parameters[i].value, static_cast<std::uint32_t>(known[i].size())).first->second);
    points_.push_back(std::move(point));
  }
  for (const auto& values : known) levels_.push_back(static_cast<std::uint32_t>(values.size()));
  for (std::size_t i = 0; i < points_.size(); ++i) index_of_place_.emplace(place(points_[i]), i);
}

/// The point's place in the grid, whose size an enumeration counts in 64 bits.
std::uint64_t Neighbourhood::place(const Point& point) const {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < levels_.size(); ++i) out = out * levels_[i] + point[i];
  return out;
}

std::optional<std::size_t> Neighbourhood::find(const Point& point) const {
  const auto found = index_of_place_.find(place(point));
  if (found == index_of_place_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::size_t> Neighbourhood::of(std::size_t index) const {
  std::vector<std::size_t> out;
  Point point = points_[index];
  for (std::size_t i = 0; i < point.size(); ++i) {
    const std::uint32_t own = point[i];
    for (std::uint32_t level = 0; level < levels_[i]; ++level) {
      point[i] = level;
      if (level == own) continue;
      if (const auto neighbour = find(point)) out.push_back(*neighbour);
    }
    point[i] = own;
  }
  return out;
}

Untried::Untried(std::size_t count, std::uint64_t seed) : taken_(count), order_(shuffled_indices(count, seed)) {}

std::optional<std::size_t> Untried::take_any() {
  while (position_ < order_.size() && taken_[order_[position_]]) ++position_;
  if (position_ == order_.size()) return std::nullopt;
  taken_[order_[position_]] = true;
  return order_[position_];
}

}  // namespace pgtune::search
