// SPDX-License-Identifier: MIT
// Launchables that compute the current problem, and back-to-back launches of one over the rotating operand copies, from
// the same state of L2.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/launch/operand_set.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"

namespace pgtune::gpu {

/// A computation of the current problem: a variant or an algorithm of the baseline. Both are checked and timed through
/// this interface, so that neither has an advantage.
class Launchable {
 public:
  Launchable() = default;
  Launchable(const Launchable&) = delete;
  Launchable& operator=(const Launchable&) = delete;
  virtual ~Launchable() = default;

  /// Enqueues one computation of the whole problem on operand copy `copy`.
  [[nodiscard]] virtual CudaResult<> launch(std::size_t copy, cudaStream_t stream) = 0;

  /// The same directly after another launch of this launchable, which it may overlap if the problem is chained.
  [[nodiscard]] virtual CudaResult<> launch_next(std::size_t copy, cudaStream_t stream) { return launch(copy, stream); }

  /// Enqueues the copy of the result of the launch on operand copy `copy` to that copy's D, if launches leave it in
  /// private memory. Part of checking, not of the computation, so it is never timed.
  [[nodiscard]] virtual CudaResult<> deliver(std::size_t /*copy*/, cudaStream_t /*stream*/) { return {}; }

  /// The operand copies on which it is checked before it is timed.
  [[nodiscard]] virtual std::vector<std::size_t> checked_copies() const { return {0}; }
  /// Enqueues a reset of private memory, guards included, to its state before a process's first launch on operand copy
  /// `copy`.
  [[nodiscard]] virtual CudaResult<> reset(std::size_t /*copy*/, cudaStream_t /*stream*/) { return {}; }
  /// Private memory that launches on operand copy `copy` must not write, filled with kPoison by reset(): before and
  /// after the workspace, or nothing.
  [[nodiscard]] virtual std::vector<DeviceSpan> guards(std::size_t /*copy*/) const { return {}; }
  [[nodiscard]] virtual bool wants_persisting_l2() const { return false; }
};

/// One by one or in graphs, the same for all series that are compared: a launch in a graph takes 1 to 3 us less than
/// the same one by itself, 4 to 9 % of launches of 20 to 35 us
/// (docs/results/launches-in-graphs.csv).
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

/// Sets L2 aside for persisting lines while it lives: a limit of this process's context, which no other process sees.
/// Where the device refuses, launches run without.
class PersistingL2 {
 public:
  PersistingL2();
  ~PersistingL2();
  PersistingL2(const PersistingL2&) = delete;
  PersistingL2& operator=(const PersistingL2&) = delete;
};

/// Takes out of L2 what is there, so that what is timed next finds nothing of use that ran before it has left: a kernel
/// whose reads and writes all evict first makes room for itself with its own lines alone, however long it
/// runs: of operands that were left with usual priority it finds a part in L2 again and again, and is timed as faster
/// than it is.
class L2Sweep {
 public:
  /// Allocates memory of twice `l2_bytes`. Errors: cudaErrorMemoryAllocation. `kernels` must outlive the result.
  [[nodiscard]] static CudaResult<L2Sweep> create(const HelperKernels& kernels, std::int64_t l2_bytes);

  /// Enqueues a read of that memory with normal priority: clean lines, which are free to replace.
  [[nodiscard]] CudaResult<> run(cudaStream_t stream) const;

 private:
  L2Sweep(const HelperKernels& kernels, DeviceBuffer memory) : kernels_(&kernels), memory_(std::move(memory)) {}

  const HelperKernels* kernels_;
  DeviceBuffer memory_;  ///< the memory, followed by its sum, which is not used
};

/// Launches for a sample of about `target_s`: at least `min_launches`, rounded up to whole granules.
[[nodiscard]] std::int64_t launches_for(double target_s, double per_launch_s, std::int64_t min_launches,
                                        std::int64_t granule);

/// What `enqueue` puts into the stream as a graph that is ready to be launched. Kernels must have been launched before
/// (lazy loading cannot be captured).
[[nodiscard]] CudaResult<GraphExec> capture_graph(cudaStream_t stream, const std::function<CudaResult<>()>& enqueue);
/// Enqueues the graph of what `enqueue` puts into the stream. While another graph is captured, which takes none, it is
/// that itself.
template <typename Enqueue>
[[nodiscard]] CudaResult<> launch_graph(const GraphExec& graph, cudaStream_t stream, std::string_view call,
                                        const Enqueue& enqueue) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (auto ok = check(cudaStreamIsCapturing(stream, &status), call); !ok) return ok;
  if (status != cudaStreamCaptureStatusNone) return enqueue();
  return check(cudaGraphLaunch(graph.get(), stream), call);
}

/// The copies that launches use in turn, and the common launch mode of their series.
struct Rotation {
  std::size_t copies = 1;
  const L2Sweep* sweep = nullptr;  ///< flushes the operands from L2 before a sample; null if they may stay there
  std::shared_ptr<LaunchMode> mode = std::make_shared<LaunchMode>();  ///< never null
  /// Where launches read what they write: enqueues the data of a copy's buffers that launches change. A launch on what
  /// another has left may have less to do.
  std::function<CudaResult<>(std::size_t copy, cudaStream_t stream)> restore = {};
};

/// GPU time of stretches of launches, without what lies between them.
class StretchTimer {
 public:
  [[nodiscard]] CudaResult<> begin(cudaStream_t stream);
  [[nodiscard]] CudaResult<> end(cudaStream_t stream);
  /// Of all stretches so far in seconds; waits for them.
  [[nodiscard]] CudaResult<double> total_s();

 private:
  /// Stretches that are enqueued before the host waits for the last of them.
  static constexpr std::size_t kMost = 64;
  struct Stretch {
    Event begin, end;
  };
  std::vector<Stretch> stretches_;  ///< used again and again
  std::size_t open_ = 0;            ///< of them, not in `done_s_` yet
  double done_s_ = 0;
};

class LaunchSeries {
 public:
  /// `launchable` and the rotation's sweep must outlive the series.
  LaunchSeries(Launchable& launchable, Rotation rotation, cudaStream_t stream)
      : launchable_(&launchable), rotation_(std::move(rotation)), stream_(stream) {}

  /// Puts launches into CUDA graphs of granule() each, which enqueue() then replays in turn: for launches so short that
  /// the host could not keep the GPU busy one by one. Graphs of launches that take long, by `per_launch_s`, have few,
  /// so that a sample's length can be chosen. The launchable must have been launched before (lazy loading cannot be
  /// captured). Does nothing if already done.
  [[nodiscard]] CudaResult<> capture(double per_launch_s);
  /// The mode of all series of its rotation.
  [[nodiscard]] LaunchMode& mode() const { return *rotation_.mode; }
  /// capture(), where mode() has graphs.
  [[nodiscard]] CudaResult<> follow_mode(double per_launch_s) {
    return mode().in_graphs() ? capture(per_launch_s) : CudaResult<>{};
  }

  [[nodiscard]] bool captured() const { return !graphs_.empty(); }

  /// Launches that come in one piece: 1 until capture().
  [[nodiscard]] std::int64_t granule() const { return granule_; }

  /// Enqueues at least `launches`, rounded up to whole granules, and returns how many. The copies go on in turn from
  /// call to call, and are restored before each turn where the rotation says how: `timer` then has the time of the
  /// launches alone.
  [[nodiscard]] CudaResult<std::int64_t> enqueue(std::int64_t launches, StretchTimer* timer = nullptr);

  /// What is enqueued next begins with copy 0, as does what is captured.
  void begin_turn() { next_copy_ = next_graph_ = 0; }
  /// Copies are restored before each turn, so that a series' time is not that of its launches.
  [[nodiscard]] bool restores() const { return rotation_.restore != nullptr; }

  /// Enqueues the work that sets L2's state for the beginning of a sample or its lead-in. Never timed.
  [[nodiscard]] CudaResult<> sweep_l2() const;

  [[nodiscard]] Launchable& launchable() const { return *launchable_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_; }

 private:
  /// `follows`: nothing else is between this launch and the series' last.
  [[nodiscard]] CudaResult<> launch_next(bool follows);
  /// Returns how many launches it was.
  [[nodiscard]] CudaResult<std::int64_t> launch_piece(bool follows);
  [[nodiscard]] bool is_at_turn() const { return captured() ? next_graph_ == 0 : next_copy_ == 0; }
  [[nodiscard]] CudaResult<> restore_all() const;
  [[nodiscard]] CudaResult<GraphExec> capture_launches(std::int64_t launches);

  Launchable* launchable_;
  Rotation rotation_;
  cudaStream_t stream_;
  std::size_t next_copy_ = 0;
  std::int64_t granule_ = 1;
  std::vector<GraphExec> graphs_;  ///< together one turn over the copies, or several turns in one
  std::int64_t last_granule_ = 1;  ///< of the last graph, which ends the turn where copies are restored
  std::size_t next_graph_ = 0;
};

}  // namespace pgtune::gpu
