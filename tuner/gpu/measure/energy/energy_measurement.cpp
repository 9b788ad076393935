// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/energy/energy_measurement.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "tuner/gpu/measure/energy/energy_watch.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/gpu/measure/screening.hpp"

namespace pgtune::gpu {
namespace {

constexpr double kChunk_s = 20e-3;

CudaResult<Event> create_blocking_event() {
  cudaEvent_t event = nullptr;
  // The waiting thread leaves its core to the one that reads the sensors.
  return check(cudaEventCreateWithFlags(&event, cudaEventBlockingSync), "creating an event").map([&] {
    return Event(event);
  });
}

}  // namespace

ChunkSum sum_inside(const std::vector<EnergyChunk>& chunks, double start_s, double end_s) {
  ChunkSum sum;
  for (const EnergyChunk& chunk : chunks) {
    if (chunk.start_s < start_s || chunk.start_s + chunk.time_s > end_s) continue;
    sum.launches += chunk.launches;
    sum.time_s += chunk.time_s;
  }
  return sum;
}

CudaResult<std::unique_ptr<EnergyLoad>> EnergyLoad::start(LaunchSeries& series, double per_launch_s,
                                                          const HelperKernels& kernels, int sm_count,
                                                          const std::function<double()>& now_s) {
  TRY_ASSIGN(auto clock, ClockMeter::create(kernels, sm_count));
  std::unique_ptr<EnergyLoad> load(new EnergyLoad(series, std::move(clock)));
  TRY(load->prepare(per_launch_s, now_s));
  load->thread_ = std::thread([raw = load.get()] { raw->run(); });
  return load;
}

EnergyLoad::~EnergyLoad() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

CudaResult<> EnergyLoad::prepare(double per_launch_s, const std::function<double()>& now_s) {
  launches_ = launches_for(kChunk_s, per_launch_s, 1, series_->granule());
  if (auto ok = check(cudaGetDevice(&device_), "asking for the device"); !ok) return ok;
  for (Slot& slot : slots_) {
    for (Event* event : {&slot.start, &slot.stop}) {
      TRY_ASSIGN(auto created, create_blocking_event());
      *event = std::move(created);
    }
  }
  TRY_ASSIGN(auto base, create_event());
  base_ = std::move(base);

  const cudaStream_t stream = series_->stream();
  auto done = clock_.clear(stream)
                  .and_then([&] { return series_->sweep_l2(); })
                  .and_then([&] { return check(cudaStreamSynchronize(stream), "waiting for the GPU"); })
                  .and_then([&] { return check(cudaEventRecord(base_.get(), stream), "starting the load"); })
                  .and_then([&] { return check(cudaEventSynchronize(base_.get()), "starting the load"); });
  // The stream was idle, so the event is some microseconds old.
  base_s_ = now_s();
  return done;
}

void EnergyLoad::run() {
  // A new thread starts on device 0.
  result_ = check(cudaSetDevice(device_), "choosing the device").and_then([&] { return launch_until_stopped(); });
  failed_ = !result_;
}

CudaResult<> EnergyLoad::launch_until_stopped() {
  std::optional<PersistingL2> persisting;
  if (series_->launchable().wants_persisting_l2()) persisting.emplace();
  CudaResult<> ok;
  while (ok && !stopping_) {
    if (enqueued_ - retired_ == kInFlight) ok = retire_chunk();
    if (ok) ok = read_wanted_clocks();
    if (ok) ok = enqueue_chunk();
  }
  if (ok) ok = read_wanted_clocks();
  while (ok && retired_ < enqueued_) ok = retire_chunk();
  if (ok) ok = check(cudaStreamSynchronize(series_->stream()), "ending the load");
  return ok;
}

CudaResult<> EnergyLoad::enqueue_chunk() {
  Slot& slot = slots_[enqueued_ % kInFlight];
  const cudaStream_t stream = series_->stream();
  return check(cudaEventRecord(slot.start.get(), stream), "starting a chunk")
      .and_then([&] { return series_->enqueue(launches_).map([&](std::int64_t count) { slot.launches = count; }); })
      .and_then([&] { return check(cudaEventRecord(slot.stop.get(), stream), "ending a chunk"); })
      .map([&] { ++enqueued_; });
}

CudaResult<> EnergyLoad::retire_chunk() {
  const Slot& slot = slots_[retired_ % kInFlight];
  if (auto ok = check(cudaEventSynchronize(slot.stop.get()), "running a chunk"); !ok) return ok;
  TRY_ASSIGN(const auto since_s, seconds_between(base_.get(), slot.start.get()));
  TRY_ASSIGN(const auto time_s, seconds_between(slot.start.get(), slot.stop.get()));
  chunks_.push_back({base_s_ + since_s, time_s, slot.launches});
  ++retired_;
  return {};
}

CudaResult<> EnergyLoad::read_wanted_clocks() {
  for (std::size_t i = 0; i < clock_wanted_.size(); ++i) {
    if (!clock_wanted_[i] || clock_read_[i]) continue;
    TRY(i == 0 ? clock_.read_before(series_->stream()) : clock_.read_after(series_->stream()));
    clock_read_[i] = true;
  }
  return {};
}

CudaResult<EnergyLoad::Record> EnergyLoad::stop() {
  stopping_ = true;
  thread_.join();
  if (!result_) return tl::unexpected(result_.error());
  return clock_.mean_hz().map([&](double clock_hz) { return Record{std::move(chunks_), clock_hz}; });
}

Result<EnergyWindow> measure_load_energy(const protocol::EnergyRequest& request, const NvmlDevice& device,
                                         LaunchSeries& series, double per_launch_s, const HelperKernels& kernels,
                                         int sm_count) {
  using Signal = EnergyTracker::Signal;
  const EnergySensors sensors = EnergySensors::of(device);
  auto load = EnergyLoad::start(series, per_launch_s, kernels, sm_count, sensors.now_s);
  if (!load) return tl::unexpected(to_error(load.error()));
  auto watched = watch_energy(request, sensors, [&](Signal signal) -> Result<void> {
    if ((*load)->failed()) return fail(ErrorKind::kInternal, "the load ended before the window did");
    if (signal == Signal::kStarted) (*load)->start_clock();
    if (signal == Signal::kEnded) (*load)->stop_clock();
    return {};
  });
  const auto record = (*load)->stop();
  if (!record) return tl::unexpected(to_error(record.error()));
  if (!watched) return tl::unexpected(watched.error());
  const ChunkSum sum = sum_inside(record->chunks, watched->start_s, watched->end_s);
  if (sum.launches == 0) {
    // Two chunks may be cut by the window's ends; a third then fits.
    double longest_s = per_launch_s;
    for (const EnergyChunk& chunk : record->chunks) longest_s = std::max(longest_s, chunk.time_s);
    return fail(ErrorKind::kUsage, fmt::format("no launch began and ended inside the energy window of {:.1f} s; {:.0f} "
                                               "s would do",
                                               watched->window.window_s, std::ceil(3 * longest_s)));
  }
  EnergyWindow window = watched->window;
  window.launches = sum.launches;
  window.per_launch_s = sum.time_s / static_cast<double>(sum.launches);
  window.sm_clock_hz = record->sm_clock_hz;
  return window;
}

Result<EnergyWindow> measure_idle_energy(const protocol::EnergyRequest& request, const NvmlDevice& device) {
  if (auto ok = check(cudaDeviceSynchronize(), "waiting for the GPU"); !ok) {
    return tl::unexpected(to_error(ok.error()));
  }
  return watch_energy(request, EnergySensors::of(device), [](EnergyTracker::Signal) { return Result<void>{}; })
      .map([](const WatchedEnergy& watched) { return watched.window; });
}

}  // namespace pgtune::gpu
