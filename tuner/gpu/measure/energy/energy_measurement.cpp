// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/energy/energy_measurement.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tuner/gpu/measure/energy/energy_load.hpp"
#include "tuner/gpu/measure/energy/energy_watch.hpp"

namespace pgtune::gpu {

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
