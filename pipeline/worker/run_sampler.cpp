// SPDX-License-Identifier: MIT
#include "pipeline/worker/run_sampler.hpp"

#include <utility>
#include <vector>

#include "tuner/gpu/measure/sample_timer.hpp"

namespace pgtune::gpu {

using Clock = std::chrono::steady_clock;

CudaResult<RunSampler> RunSampler::create(const HelperKernels& helpers, int sm_count, cudaStream_t stream) {
  auto clock = ClockMeter::create(helpers, sm_count);
  if (!clock) return tl::unexpected(clock.error());
  RunSampler sampler;
  sampler.clock_ = std::move(*clock);
  sampler.stream_ = stream;
  return sampler;
}

CudaResult<double> RunSampler::settle(LoadedPipeline& loaded, double settle_s) const {
  const SettlingRule rule =
      SettlingRule(settle_s).after(std::chrono::duration<double>(Clock::now() - settled_end_).count());
  std::vector<SettlingPoint> points;
  double end_s = 0;
  while (!has_settled(points, rule)) {
    pipeline::RunSample one;
    if (auto ok = loaded.run(one); !ok) return tl::unexpected(ok.error());
    end_s += one.host_s;
    points.push_back({end_s, one.host_s});
  }
  return end_s;
}

CudaResult<pipeline::RunSample> RunSampler::sample(LoadedPipeline& loaded, double sample_s, double settle_s) {
  pipeline::RunSample sample;
  if (settle_s > 0) {
    const auto lead_in_s = settle(loaded, settle_s);
    if (!lead_in_s) return tl::unexpected(lead_in_s.error());
    sample.lead_in_s = *lead_in_s;
  }
  const auto wait = [&] { return check(cudaStreamSynchronize(stream_), "reading clocks"); };
  auto ok = clock_.clear(stream_).and_then([&] { return clock_.read_before(stream_); }).and_then(wait);
  do {
    ok = ok.and_then([&] { return loaded.run(sample); });
  } while (ok && sample.host_s < sample_s);
  if (settle_s > 0) settled_end_ = Clock::now();
  const auto clock_hz =
      ok.and_then([&] { return clock_.read_after(stream_); }).and_then(wait).and_then([&] { return clock_.mean_hz(); });
  if (!clock_hz) return tl::unexpected(clock_hz.error());
  if (*clock_hz > 0) sample.sm_clock_hz = *clock_hz;
  return sample;
}

}  // namespace pgtune::gpu
