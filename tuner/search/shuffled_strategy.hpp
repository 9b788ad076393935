// SPDX-License-Identifier: MIT
// Every variant once, in random order: with a trial budget, a random sample of each template's space.
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/search/strategy.hpp"

namespace pgtune::search {

class ShuffledStrategy final : public Strategy {
 public:
  /// The indices are those of groups lying one after another, of `group_sizes`: a template's variants are a group.
  /// Groups take turns until the smaller ones are through, so that a budget is shared fairly. `first` (the templates'
  /// defaults and seeds, where legal) leads, so that a good incumbent exists early.
  ShuffledStrategy(const std::vector<std::size_t>& group_sizes, const std::vector<std::size_t>& first,
                   std::uint64_t seed);

  [[nodiscard]] std::optional<std::size_t> next() override;
  void report(std::size_t index, const Observation& observation) override;

 private:
  std::vector<std::size_t> order_;
  std::size_t position_ = 0;
};

}  // namespace pgtune::search
