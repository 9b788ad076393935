// SPDX-License-Identifier: MIT
// Whether launches that are compared are enqueued one by one or in CUDA graphs.
#pragma once

namespace pgtune::gpu {

/// One by one or in graphs, the same for all series that are compared: a launch in a graph takes 1 to 3 us less than
/// the same one by itself, 4 to 9 % of launches of 20 to 35 us (docs/measurements/trusted-numbers.md).
class LaunchMode {
 public:
  /// The first call decides, by what a launch of the first contender takes by itself: graphs where that is so short
  /// that the host may not keep up. Later calls change nothing.
  void choose(double launch_s) {
    if (!chosen_) set(launch_s < kGraphBelow_s);
  }
  /// What was decided for these contenders before, or graphs because the host has turned out too slow.
  void set(bool in_graphs) {
    chosen_ = true;
    in_graphs_ = in_graphs;
  }
  [[nodiscard]] bool in_graphs() const { return in_graphs_; }

 private:
  static constexpr double kGraphBelow_s = 20e-6;  ///< the host needs a few microseconds for each launch of a plan

  bool chosen_ = false, in_graphs_ = false;
};

}  // namespace pgtune::gpu
