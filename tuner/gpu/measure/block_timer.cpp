// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/block_timer.hpp"

#include <optional>

namespace pgtune::gpu {
namespace {

/// Sets L2 aside for persisting lines while a launchable that asks for them runs: a limit of this process's context,
/// which no other process sees. Where the device refuses, the launches run without.
class PersistingL2 {
 public:
  PersistingL2() {
    int device = 0, bytes = 0;
    if (cudaGetDevice(&device) == cudaSuccess &&
        cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxPersistingL2CacheSize, device) == cudaSuccess) {
      static_cast<void>(check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, static_cast<std::size_t>(bytes)),
                              "setting L2 aside"));
    }
  }
  ~PersistingL2() {
    static_cast<void>(check(cudaCtxResetPersistingL2Cache(), "releasing persisting L2 lines"));
    static_cast<void>(check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0), "returning the L2 set aside"));
  }
  PersistingL2(const PersistingL2&) = delete;
  PersistingL2& operator=(const PersistingL2&) = delete;
};

std::int64_t bytes_of(const std::vector<ClockReading>& readings) {
  return static_cast<std::int64_t>(readings.size() * sizeof(ClockReading));
}

}  // namespace

double mean_clock_hz(const std::vector<ClockReading>& before, const std::vector<ClockReading>& after) {
  double sum_hz = 0;
  int count = 0;
  for (std::size_t i = 0; i < before.size() && i < after.size(); ++i) {
    if (before[i].time_ns == 0 || after[i].time_ns <= before[i].time_ns) continue;
    sum_hz += static_cast<double>(after[i].clocks - before[i].clocks) /
              static_cast<double>(after[i].time_ns - before[i].time_ns) * 1e9;
    ++count;
  }
  return count > 0 ? sum_hz / count : 0;
}

CudaResult<std::unique_ptr<BlockTimer>> BlockTimer::create(const HelperKernels& kernels, int sm_count) {
  std::unique_ptr<BlockTimer> timer(new BlockTimer(kernels));
  auto start = create_event();
  if (!start) return tl::unexpected(start.error());
  auto stop = create_event();
  if (!stop) return tl::unexpected(stop.error());
  timer->before_.resize(static_cast<std::size_t>(sm_count));
  timer->after_.resize(static_cast<std::size_t>(sm_count));
  auto clocks = DeviceBuffer::allocate(bytes_of(timer->before_) + bytes_of(timer->after_));
  if (!clocks) return tl::unexpected(clocks.error());
  timer->start_ = std::move(*start);
  timer->stop_ = std::move(*stop);
  timer->clocks_ = std::move(*clocks);
  return timer;
}

CudaResult<Block> BlockTimer::time(LaunchSeries& series, std::int64_t launches, std::int64_t lead_in) {
  const cudaStream_t stream = series.stream();
  std::optional<PersistingL2> persisting;
  if (series.launchable().wants_persisting_l2()) persisting.emplace();
  const std::uint64_t after = clocks_.address() + static_cast<std::uint64_t>(bytes_of(before_));
  Block block;
  auto done =
      check(cudaMemsetAsync(clocks_.data(), 0, static_cast<std::size_t>(clocks_.bytes()), stream), "clearing clocks")
          .and_then([&] { return series.enqueue(lead_in).map([](std::int64_t) {}); })
          .and_then([&] { return kernels_->read_clocks(clocks_.address(), stream); })
          .and_then([&] { return check(cudaEventRecord(start_.get(), stream), "starting a block"); })
          .and_then([&] { return series.enqueue(launches).map([&](std::int64_t count) { block.launches = count; }); })
          .and_then([&] { return check(cudaEventRecord(stop_.get(), stream), "ending a block"); })
          .and_then([&] { return kernels_->read_clocks(after, stream); })
          .and_then([&] { return check(cudaStreamSynchronize(stream), "running a block"); });
  if (!done) return tl::unexpected(done.error());

  float elapsed_ms = 0;
  done = check(cudaEventElapsedTime(&elapsed_ms, start_.get(), stop_.get()), "reading a block's time");
  if (!done) return tl::unexpected(done.error());
  block.time_s = static_cast<double>(elapsed_ms) * 1e-3;
  auto clock_hz = fetch_clock();
  if (!clock_hz) return tl::unexpected(clock_hz.error());
  block.sm_clock_hz = *clock_hz;
  return block;
}

CudaResult<double> BlockTimer::fetch_clock() {
  const auto fetch = [](std::vector<ClockReading>& to, std::uint64_t address) {
    return check(
        cudaMemcpy(to.data(), device_pointer(address), static_cast<std::size_t>(bytes_of(to)), cudaMemcpyDeviceToHost),
        "reading clocks");
  };
  return fetch(before_, clocks_.address())
      .and_then([&] { return fetch(after_, clocks_.address() + static_cast<std::uint64_t>(bytes_of(before_))); })
      .map([&] { return mean_clock_hz(before_, after_); });
}

}  // namespace pgtune::gpu
