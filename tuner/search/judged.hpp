// SPDX-License-Identifier: MIT
// Estimates what a strategy that follows predictions has missed so far.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "tuner/search/predictor.hpp"
#include "tuner/search/strategy.hpp"

namespace pgtune::search {

/// Uses all reports so far, which reach the strategy itself later.
class Judged final : public Strategy {
 public:
  /// `expected`: a prediction for each variant, with a known deviation. If that is unknown (`knows` is false), it only
  /// reports when the presets are used up. `in_preset`: whether each variant is in its template's preset; empty if all
  /// are.
  Judged(std::unique_ptr<Strategy> strategy, Expectation expected, bool knows, std::vector<bool> in_preset);

  [[nodiscard]] std::optional<std::size_t> next() override { return strategy_->next(); }
  void report(std::size_t index, const Observation& observation) override;
  [[nodiscard]] std::optional<ExpectedMiss> expected_miss() const override;
  [[nodiscard]] bool judges() const override { return true; }

 private:
  static constexpr std::size_t kLeast = 3, kPlace = 5;  ///< of the fastest

  /// A number of variants, and how many of them were tried, failures included.
  struct Part {
    std::size_t tried = 0, variants = 0;
  };

  /// The estimate for the fastest of `part`, from the gap between the fastest tried variants.
  [[nodiscard]] double missed(const Part& part) const;

  std::unique_ptr<Strategy> strategy_;
  Expectation expected_;
  bool knows_;
  std::vector<bool> in_preset_;
  Part all_, presets_;
  std::size_t timed_ = 0;
  double off_ = 0, off_squares_ = 0;  ///< sums of the predictions' errors
  std::vector<double> fastest_;       ///< logarithms of times, ascending
};

}  // namespace pgtune::search
