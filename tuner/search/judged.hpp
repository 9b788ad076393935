// SPDX-License-Identifier: MIT
// What a strategy that goes by expectations has missed so far.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "tuner/search/predictor.hpp"
#include "tuner/search/strategy.hpp"

namespace pgtune::search {

/// Says what was missed by all reports there are, which reach the strategy itself later.
class Judged final : public Strategy {
 public:
  /// `expected`: of each variant, with a deviation that is known; where it is not (`knows` is false) only that presets
  /// are tried to their end is said. `in_preset`: of each variant whether it is in its template's preset; empty where
  /// all are.
  Judged(std::unique_ptr<Strategy> strategy, Expectation expected, bool knows, std::vector<bool> in_preset);

  [[nodiscard]] std::optional<std::size_t> next() override { return strategy_->next(); }
  void report(std::size_t index, const Observation& observation) override;
  [[nodiscard]] std::optional<ExpectedMiss> expected_miss() const override;
  [[nodiscard]] bool judges() const override { return true; }

 private:
  static constexpr std::size_t kLeast = 3, kPlace = 5;  ///< of the fastest

  /// Variants, and how many of them were tried, failures too.
  struct Part {
    std::size_t tried = 0, variants = 0;
  };

  /// Of the fastest of `part`, by how far apart the fastest of all that were tried lie.
  [[nodiscard]] double missed(const Part& part) const;

  std::unique_ptr<Strategy> strategy_;
  Expectation expected_;
  bool knows_;
  std::vector<bool> in_preset_;
  Part all_, presets_;
  std::size_t timed_ = 0;
  double off_ = 0, off_squares_ = 0;  ///< sums of what expectations were off by
  std::vector<double> fastest_;       ///< logarithms of times, ascending
};

}  // namespace pgtune::search
