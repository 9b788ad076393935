// SPDX-License-Identifier: MIT
// Makes a strategy that learns repeatable: however builds and trials overtake each other, it sees the same reports at
// the same moment of its search.
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>

#include "tuner/search/strategy.hpp"

namespace pgtune::search {

/// Hands reports on in the order of the proposals, and each only when the strategy has made `most_open` proposals after
/// it or waits for reports. Before the proposal after that it waits for the report itself.
class InOrder final : public Strategy {
 public:
  /// Proposals that may be open: as many as are built at a time. More would keep a learner from learning; a search of
  /// eight variants goes by what is known before it.
  static constexpr std::size_t kOpen = 8;

  explicit InOrder(std::unique_ptr<Strategy> strategy, std::size_t most_open = kOpen)
      : strategy_(std::move(strategy)), most_open_(most_open) {}

  [[nodiscard]] std::optional<std::size_t> next() override;
  void report(std::size_t index, const Observation& observation) override { reported_.emplace(index, observation); }

 private:
  /// Hands the oldest open proposal's report on; false where it is not there yet.
  bool hand_on();

  std::unique_ptr<Strategy> strategy_;
  std::size_t most_open_;
  std::deque<std::size_t> open_;  ///< proposals the strategy has no report of
  std::unordered_map<std::size_t, Observation> reported_;
  bool waits_ = false;  ///< the strategy proposes nothing before its next report
};

}  // namespace pgtune::search
