// SPDX-License-Identifier: MIT
// What a GPU's clock does while other GPUs of the machine are at work, which may share its power or its heat.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tuner/model/clock_beside.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::device {

/// How many GPUs have a problem in hand, each counted by the thread that has it.
using GpusAtWork = std::atomic<int>;

/// Keeps the clock of the baseline's samples on one GPU with how many others were at work; of all problems, because
/// within one that number may never change.
class NeighbourClocks {
 public:
  /// `at_work` counts this GPU too while it is at work; null: it is alone, and nothing is kept.
  explicit NeighbourClocks(std::shared_ptr<const GpusAtWork> at_work) : at_work_(std::move(at_work)) {}

  void next_problem() { groups_.clear(); }
  /// Others that are at work now.
  [[nodiscard]] int busy() const;
  /// The clocks of a round before which `busy_before` others were at work. A round in which one began or ended says
  /// nothing.
  void take(int busy_before, const protocol::RoundRequest& request, const protocol::RoundReport& report);

  [[nodiscard]] const std::vector<ClockBeside>& clocks() const { return clocks_; }

 private:
  std::shared_ptr<const GpusAtWork> at_work_;
  std::map<std::pair<Stage, int>, int> groups_;  ///< of the current problem, by stage and algorithm
  int next_group_ = 0;
  std::vector<ClockBeside> clocks_;
};

}  // namespace pgtune::device
