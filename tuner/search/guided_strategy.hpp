// SPDX-License-Identifier: MIT
// Every variant once: the leaders, then each template's variants by what it expects of them, with random ones between.
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/search/strategy.hpp"

namespace pgtune::search {

/// A template's variants, which lie one after another.
struct Group {
  std::size_t size = 0;
  std::vector<double> costs;  ///< a guess at each one's time, in any unit; empty: nothing is known
};

class GuidedStrategy final : public Strategy {
 public:
  /// The indices are those of `groups` lying one after another. `first` (the templates' defaults and seeds, where
  /// legal) leads, so that a good incumbent exists early. Then groups take turns until the smaller ones are through, so
  /// that a budget is shared fairly. A group with costs gives its cheapest first, and every kRandomEvery-th at random,
  /// for what the costs misjudge; one without gives a random order.
  GuidedStrategy(const std::vector<Group>& groups, const std::vector<std::size_t>& first, std::uint64_t seed);

  static constexpr std::size_t kRandomEvery = 4;

  [[nodiscard]] std::optional<std::size_t> next() override;
  void report(std::size_t index, const Observation& observation) override;

 private:
  std::vector<std::size_t> order_;
  std::size_t position_ = 0;
};

}  // namespace pgtune::search
