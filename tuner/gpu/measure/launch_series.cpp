// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/launch_series.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace pgtune::gpu {
namespace {

constexpr std::int64_t kSumBytes = sizeof(std::uint64_t);

/// So long that starting a graph costs little beside what it runs, and short beside a sample.
constexpr double kGraph_s = 4e-3;
/// So many do, whatever they take.
constexpr std::int64_t kEnoughLaunches = 64;

}  // namespace

PersistingL2::PersistingL2() {
  int device = 0, bytes = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxPersistingL2CacheSize, device) != cudaSuccess)
    return;
  static_cast<void>(
      check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, static_cast<std::size_t>(bytes)), "setting L2 aside"));
}

PersistingL2::~PersistingL2() {
  static_cast<void>(check(cudaCtxResetPersistingL2Cache(), "releasing persisting L2 lines"));
  static_cast<void>(check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0), "returning the L2 set aside"));
}

CudaResult<L2Sweep> L2Sweep::create(const HelperKernels& kernels, std::int64_t l2_bytes) {
  // Twice, as replacement is not in the strict order of use, and each half of some GPUs' L2 keeps lines of the other's.
  TRY_ASSIGN(auto memory, DeviceBuffer::allocate(2 * std::max<std::int64_t>(l2_bytes, kSumBytes) + kSumBytes));
  TRY(check(cudaMemset(memory.data(), 0, static_cast<std::size_t>(memory.bytes())), "filling memory"));
  return L2Sweep(kernels, std::move(memory));
}

CudaResult<> L2Sweep::run(cudaStream_t stream) const {
  const std::int64_t bytes = memory_.bytes() - kSumBytes;
  return kernels_->checksum({memory_.address(), bytes}, memory_.address() + static_cast<std::uint64_t>(bytes), stream);
}

CudaResult<> LaunchSeries::launch_next(bool follows) {
  const std::size_t copy = next_copy_;
  next_copy_ = (next_copy_ + 1) % rotation_.copies;
  return follows ? launchable_->launch_next(copy, stream_) : launchable_->launch(copy, stream_);
}

std::int64_t launches_for(double target_s, double per_launch_s, std::int64_t min_launches, std::int64_t granule) {
  // An estimate of 0 (below the events' resolution) must not become an endless sample.
  constexpr double kShortestLaunch_s = 1e-6;
  const double wanted = std::ceil(target_s / std::max(per_launch_s, kShortestLaunch_s));
  const std::int64_t launches = std::max(static_cast<std::int64_t>(wanted), min_launches);
  return (launches + granule - 1) / granule * granule;
}

CudaResult<> LaunchSeries::capture(double per_launch_s) {
  if (captured()) return {};
  const std::int64_t least = std::min(launches_for(kGraph_s, per_launch_s, 1, 1), kEnoughLaunches), most = 2 * least;
  const auto copies = static_cast<std::int64_t>(rotation_.copies);
  const std::int64_t graphs = (copies + most - 1) / most;
  const std::int64_t turns = copies < least && !restores() ? (least + copies - 1) / copies : 1;
  const std::int64_t launches = (turns * copies + graphs - 1) / graphs;
  const std::int64_t last = restores() ? copies - (graphs - 1) * launches : launches;
  if (restores()) begin_turn();
  std::vector<GraphExec> captured_graphs;  // all or none: a part would skip copies
  for (std::int64_t i = 0; i < graphs; ++i) {
    TRY_ASSIGN(auto graph, capture_launches(i + 1 < graphs ? launches : last));
    captured_graphs.push_back(std::move(graph));
  }
  graphs_ = std::move(captured_graphs);
  granule_ = launches;
  last_granule_ = last;
  return {};
}

CudaResult<GraphExec> capture_graph(cudaStream_t stream, const std::function<CudaResult<>()>& enqueue) {
  auto ok = check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capturing a graph");
  if (!ok) return tl::unexpected(ok.error());
  ok = enqueue();
  // Ends the capture also after a failure: the stream is of no use otherwise.
  cudaGraph_t raw = nullptr;
  const auto ended = check(cudaStreamEndCapture(stream, &raw), "capturing a graph");
  const Graph graph(raw);
  if (!ok) return tl::unexpected(ok.error());
  if (!ended) return tl::unexpected(ended.error());
  cudaGraphExec_t executable = nullptr;
  ok = check(cudaGraphInstantiate(&executable, raw, 0), "instantiating a graph");
  if (!ok) return tl::unexpected(ok.error());
  GraphExec owned(executable);
  ok = check(cudaGraphUpload(executable, stream), "uploading a graph");
  if (!ok) return tl::unexpected(ok.error());
  return owned;
}

CudaResult<GraphExec> LaunchSeries::capture_launches(std::int64_t launches) {
  return capture_graph(stream_, [&] {
    CudaResult<> ok;
    for (std::int64_t i = 0; i < launches && ok; ++i) ok = launch_next(i > 0);
    return ok;
  });
}

CudaResult<std::int64_t> LaunchSeries::launch_piece(bool follows) {
  if (graphs_.empty()) return launch_next(follows).map([] { return std::int64_t{1}; });
  const std::size_t graph = next_graph_;
  next_graph_ = (next_graph_ + 1) % graphs_.size();
  return check(cudaGraphLaunch(graphs_[graph].get(), stream_), "launching a graph").map([&] {
    return graph + 1 < graphs_.size() ? granule_ : last_granule_;
  });
}

CudaResult<> LaunchSeries::restore_all() const {
  for (std::size_t copy = 0; copy < rotation_.copies; ++copy) TRY(rotation_.restore(copy, stream_));
  return {};
}

CudaResult<> LaunchSeries::sweep_l2() const {
  return rotation_.sweep == nullptr ? CudaResult<>{} : rotation_.sweep->run(stream_);
}

CudaResult<std::int64_t> LaunchSeries::enqueue(std::int64_t launches, StretchTimer* timer) {
  std::int64_t enqueued = 0;
  bool timing = false;
  while (enqueued < launches) {
    const bool fresh = restores() && is_at_turn();
    if (fresh && timing) TRY(timer->end(stream_));
    if (fresh) TRY(restore_all());
    if (timer != nullptr && (fresh || !timing)) TRY(timer->begin(stream_));
    timing = timer != nullptr;
    TRY_ASSIGN(const auto count, launch_piece(enqueued > 0 && !fresh));
    enqueued += count;
  }
  if (timing) TRY(timer->end(stream_));
  return enqueued;
}

CudaResult<> StretchTimer::begin(cudaStream_t stream) {
  if (open_ == kMost) TRY(total_s());
  if (open_ == stretches_.size()) {
    TRY_ASSIGN(auto begin, create_event());
    TRY_ASSIGN(auto end, create_event());
    stretches_.push_back({std::move(begin), std::move(end)});
  }
  return check(cudaEventRecord(stretches_[open_].begin.get(), stream), "starting a stretch of launches");
}

CudaResult<> StretchTimer::end(cudaStream_t stream) {
  return check(cudaEventRecord(stretches_[open_++].end.get(), stream), "ending a stretch of launches");
}

CudaResult<double> StretchTimer::total_s() {
  for (std::size_t i = 0; i < open_; ++i) {
    TRY(check(cudaEventSynchronize(stretches_[i].end.get()), "waiting for a stretch of launches"));
    TRY_ASSIGN(const auto stretch_s, seconds_between(stretches_[i].begin.get(), stretches_[i].end.get()));
    done_s_ += stretch_s;
  }
  open_ = 0;
  return done_s_;
}

}  // namespace pgtune::gpu
