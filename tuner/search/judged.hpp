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
  Judged(std::unique_ptr<Strategy> strategy, Expectation expected)
      : strategy_(std::move(strategy)), expected_(std::move(expected)) {}

  [[nodiscard]] std::optional<std::size_t> next() override { return strategy_->next(); }
  void report(std::size_t index, const Observation& observation) override;
  [[nodiscard]] std::optional<double> expected_missed() const override;
  [[nodiscard]] bool judges() const override { return true; }

 private:
  static constexpr std::size_t kLeast = 3, kPlace = 5;  ///< of the fastest
  std::unique_ptr<Strategy> strategy_;
  Expectation expected_;
  std::size_t tried_ = 0, timed_ = 0;
  double off_ = 0, off_squares_ = 0;  ///< sums of what expectations were off by
  std::vector<double> fastest_;       ///< logarithms of times, ascending
};

}  // namespace pgtune::search
