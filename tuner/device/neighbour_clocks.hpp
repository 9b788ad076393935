// SPDX-License-Identifier: MIT
// A GPU's clock while other GPUs of the machine work, which may share its power or cooling.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tuner/model/clock_beside.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::device {

/// How many GPUs work on a problem; each GPU's thread counts itself.
using GpusAtWork = std::atomic<int>;

/// Keeps the clock of the baseline's samples on one GPU, with the number of other busy GPUs. Covers all problems,
/// because that number may never change within one.
class NeighbourClocks {
 public:
  /// `at_work` includes this GPU while it works; null: the GPU is alone, and nothing is kept.
  explicit NeighbourClocks(std::shared_ptr<const GpusAtWork> at_work) : at_work_(std::move(at_work)) {}

  void next_problem() { groups_.clear(); }
  /// Other GPUs that work now.
  [[nodiscard]] int busy() const;
  /// Adds the clocks of a round; `busy_before` other GPUs worked before it. A round during which that number changed is
  /// ignored.
  void take(int busy_before, const protocol::RoundRequest& request, const protocol::RoundReport& report);

  [[nodiscard]] const std::vector<ClockBeside>& clocks() const { return clocks_; }

 private:
  std::shared_ptr<const GpusAtWork> at_work_;
  std::map<std::pair<Stage, int>, int> groups_;  ///< of the current problem, by stage and algorithm
  int next_group_ = 0;
  std::vector<ClockBeside> clocks_;
};

}  // namespace pgtune::device
