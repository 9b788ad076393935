// SPDX-License-Identifier: MIT
// Makes a learning strategy repeatable: it sees the same reports at the same point of its search, in whatever order
// builds and trials finish.
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>

#include "tuner/search/strategy.hpp"

namespace pgtune::search {

/// Passes reports on in the order of the proposals. It passes each one only when the strategy has made `most_open`
/// further proposals or waits for reports, and delays the next proposal until that report arrives.
class InOrder final : public Strategy {
 public:
  /// The number of proposals that may be open: as many as are built at a time. More would delay learning; with eight
  /// open, a search of eight variants learns nothing.
  static constexpr std::size_t kOpen = 8;

  explicit InOrder(std::unique_ptr<Strategy> strategy, std::size_t most_open = kOpen)
      : strategy_(std::move(strategy)), most_open_(most_open) {}

  [[nodiscard]] std::optional<std::size_t> next() override;
  void report(std::size_t index, const Observation& observation) override { reported_.emplace(index, observation); }

 private:
  /// Passes on the oldest open proposal's report; false if it has not arrived.
  bool hand_on();

  std::unique_ptr<Strategy> strategy_;
  std::size_t most_open_;
  std::deque<std::size_t> open_;  ///< proposals without a report to the strategy
  std::unordered_map<std::size_t, Observation> reported_;
  bool waits_ = false;  ///< the strategy proposes nothing before its next report
};

}  // namespace pgtune::search
