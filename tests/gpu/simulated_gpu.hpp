// SPDX-License-Identifier: MIT
// A GPU in virtual time, which the CUDA runtime's functions for events, streams and graphs reach by the linker
// (--wrap, tests/gpu/measure.cmake): launches last as long as they say, and the host takes its time to enqueue them.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "tuner/gpu/measure/launch_series.hpp"

namespace pgtune::gpu::simulated {

/// How long things take; reset() begins anew at 0 on both clocks.
struct Timing {
  double graph_saves_s = 2e-6;  ///< a launch in a graph takes that much less
  double graph_s = 10e-6;       ///< of the host, to launch a graph
  std::size_t queue = 1024;     ///< launches and graphs that wait; the host waits for room
};
void reset(const Timing& timing = {});

/// Of the host, which every launch one by one and every graph's launch moves on.
[[nodiscard]] double host_s();
void host_works(double seconds);
/// The time when the enqueued work will have run. The GPU waits for work that is enqueued later.
[[nodiscard]] double gpu_s();

/// Graphs that were instantiated and not destroyed.
[[nodiscard]] int live_graphs();

/// A kernel that takes `launch_s()`, and `enqueue_s()` of the host where it is launched by itself.
class Kernel final : public Launchable {
 public:
  using Seconds = std::function<double()>;
  explicit Kernel(
      Seconds launch_s, Seconds enqueue_s = [] { return 3e-6; })
      : launch_s_(std::move(launch_s)), enqueue_s_(std::move(enqueue_s)) {}
  explicit Kernel(double launch_s) : Kernel([launch_s] { return launch_s; }) {}

  /// Fails where that was asked for.
  [[nodiscard]] CudaResult<> launch(std::size_t copy, cudaStream_t stream) override;

  /// From the next launch on.
  void fail_with(const CudaFailure& failure) { failure_ = failure; }
  int launches = 0;  ///< one by one, or into a graph

 private:
  Seconds launch_s_, enqueue_s_;
  std::optional<CudaFailure> failure_;
};

}  // namespace pgtune::gpu::simulated
