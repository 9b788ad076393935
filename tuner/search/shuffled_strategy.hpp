// SPDX-License-Identifier: MIT
// Every variant once, in random order: with a trial budget, a random sample of the space.
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/search/strategy.hpp"

namespace pgtune::search {

class ShuffledStrategy final : public Strategy {
 public:
  /// `first` (the template's default, where it is legal) leads, so that a usable incumbent exists early.
  ShuffledStrategy(std::size_t count, std::optional<std::size_t> first, std::uint64_t seed);

  [[nodiscard]] std::optional<std::size_t> next() override;
  void report(std::size_t index, const Observation& observation) override;

 private:
  std::vector<std::size_t> order_;
  std::size_t position_ = 0;
};

}  // namespace pgtune::search
