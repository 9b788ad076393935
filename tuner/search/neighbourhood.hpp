// SPDX-License-Identifier: MIT
// The variants of one template as points of a grid, of which rules have removed some.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "tuner/model/variant.hpp"
#include "tuner/search/random.hpp"

namespace pgtune::search {

class Neighbourhood {
 public:
  using Point = std::vector<std::uint32_t>;  ///< of each parameter the place of its value, by first appearance

  /// Precondition: all of one template, each once.
  explicit Neighbourhood(std::span<const Variant> variants);

  [[nodiscard]] std::size_t size() const { return points_.size(); }
  [[nodiscard]] const Point& point(std::size_t index) const { return points_[index]; }
  [[nodiscard]] std::size_t parameters() const { return levels_.size(); }
  /// Of a parameter: how many values it has.
  [[nodiscard]] std::uint32_t levels(std::size_t parameter) const { return levels_[parameter]; }
  /// Nothing where a rule removed the point.
  [[nodiscard]] std::optional<std::size_t> find(const Point& point) const;
  /// Those that differ from it in one parameter.
  [[nodiscard]] std::vector<std::size_t> of(std::size_t index) const;

 private:
  [[nodiscard]] std::uint64_t place(const Point& point) const;

  std::vector<std::uint32_t> levels_;
  std::vector<Point> points_;
  std::unordered_map<std::uint64_t, std::size_t> index_of_place_;
};

/// Every index once, in random order, but those that were taken otherwise.
class Untried {
 public:
  Untried(std::size_t count, std::uint64_t seed);

  [[nodiscard]] bool contains(std::size_t index) const { return !taken_[index]; }
  void take(std::size_t index) { taken_[index] = true; }
  /// Takes the next; nothing where all are taken.
  std::optional<std::size_t> take_any();

 private:
  std::vector<bool> taken_;
  std::vector<std::size_t> order_;
  std::size_t position_ = 0;
};

}  // namespace pgtune::search
