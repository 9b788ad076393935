// SPDX-License-Identifier: MIT
// Back-to-back launches of one launchable over the rotating operand copies.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/l2_sweep.hpp"
#include "tuner/gpu/measure/launch_mode.hpp"
#include "tuner/gpu/measure/launchable.hpp"

namespace pgtune::gpu {

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

/// What launches go over in turn, and how all series that do so are enqueued.
struct Rotation {
  std::size_t copies = 1;
  const L2Sweep* sweep = nullptr;  ///< takes the operands out of L2 before a sample; null where they may be there
  std::shared_ptr<LaunchMode> mode = std::make_shared<LaunchMode>();  ///< never null
};

class LaunchSeries {
 public:
  /// `launchable` and the rotation's sweep must outlive the series.
  LaunchSeries(Launchable& launchable, Rotation rotation, cudaStream_t stream)
      : launchable_(&launchable), rotation_(std::move(rotation)), stream_(stream) {}

  /// Puts launches into CUDA graphs of granule() each, which enqueue() then replays in turn: for launches so short that
  /// the host could not keep the GPU busy one by one. Graphs of launches that take long, by `per_launch_s`, have few,
  /// so that a sample's length can be chosen. The launchable must have been launched before (lazy loading cannot be
  /// captured). Does nothing where that has been done.
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
  /// call to call.
  [[nodiscard]] CudaResult<std::int64_t> enqueue(std::int64_t launches);

  /// Enqueues what brings L2 into the state that a sample, or its lead-in, is to begin from. Never timed.
  [[nodiscard]] CudaResult<> sweep_l2() const;

  [[nodiscard]] Launchable& launchable() const { return *launchable_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_; }

 private:
  /// `follows`: nothing else is between this launch and the series' last.
  [[nodiscard]] CudaResult<> launch_next(bool follows);
  [[nodiscard]] CudaResult<> launch_piece(bool follows);
  [[nodiscard]] CudaResult<GraphExec> capture_launches(std::int64_t launches);

  Launchable* launchable_;
  Rotation rotation_;
  cudaStream_t stream_;
  std::size_t next_copy_ = 0;
  std::int64_t granule_ = 1;
  std::vector<GraphExec> graphs_;  ///< together one turn over the copies, or several turns in one
  std::size_t next_graph_ = 0;
};

}  // namespace pgtune::gpu
