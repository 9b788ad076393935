// SPDX-License-Identifier: MIT
// Variants in an order that no report changes.
#pragma once

#include <numeric>
#include <utility>
#include <vector>

#include "tuner/search/strategy.hpp"

namespace pgtune::search {

class FixedOrder final : public Strategy {
 public:
  /// Indices, each once.
  explicit FixedOrder(std::vector<std::size_t> order) : order_(std::move(order)) {}
  /// 0 to `count` - 1.
  explicit FixedOrder(std::size_t count) : order_(count) { std::iota(order_.begin(), order_.end(), std::size_t{0}); }

  [[nodiscard]] std::optional<std::size_t> next() override {
    if (position_ == order_.size()) return std::nullopt;
    return order_[position_++];
  }
  void report(std::size_t, const Observation&) override {}

 private:
  std::vector<std::size_t> order_;
  std::size_t position_ = 0;
};

}  // namespace pgtune::search
