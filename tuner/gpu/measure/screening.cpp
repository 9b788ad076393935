// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/screening.hpp"

#include <algorithm>
#include <utility>

#include "tuner/util/middle.hpp"

namespace pgtune::gpu {
namespace {

constexpr double kProbeTarget_s = 300e-6;  // long against the cost of starting and ending a sample
constexpr std::int64_t kMaxProbeLaunches = 32;
constexpr double kFirstSample_s = 2e-3, kLaterSample_s = 5e-3;
constexpr int kLaterSamples = 2;
constexpr std::int64_t kFirstSampleLaunches = 3;
constexpr double kLongLaunch_s = 5e-3;  // one launch this long makes a sample by itself, and loading no difference
constexpr double kProbeCut = 3.0;       // a probe is rougher than a sample

bool clearly_slower(const Sample& sample, double incumbent_s, double factor) {
  return incumbent_s > 0 && sample.per_launch_s() > factor * incumbent_s;
}

}  // namespace

CudaResult<Sample> calibrate(LaunchSeries& series, SampleTimer& timer, double checked_launch_s) {
  auto probe = timer.time(series, 1, checked_launch_s > kLongLaunch_s ? 0 : 1);
  if (!probe) return probe;
  if (probe->per_launch_s() < kProbeTarget_s) {
    probe = timer.time(series, std::min(launches_for(kProbeTarget_s, probe->per_launch_s(), 1, 1), kMaxProbeLaunches));
    if (!probe) return probe;
  }
  series.mode().choose(probe->per_launch_s());
  if (!series.mode().in_graphs() || probe->per_launch_s() >= kNoGraph_s) return probe;
  TRY(series.capture(probe->per_launch_s()));
  return timer.time(series, series.granule());
}

CudaResult<> calibrate_once(LaunchSeries& series, bool& calibrated, SampleTimer& timer) {
  if (calibrated) return {};
  TRY(calibrate(series, timer));
  calibrated = true;
  return {};
}

double Screening::median_per_launch_s() const {
  std::vector<double> times;
  for (const Sample& sample : samples) times.push_back(sample.per_launch_s());
  return middle_of(std::move(times));
}

CudaResult<Screening> screen(LaunchSeries& series, SampleTimer& timer, double incumbent_s, double checked_launch_s) {
  Screening screening;
  Sample checked;
  checked.launches = 1;
  checked.time_s = checked_launch_s;
  if (checked_launch_s > kLongLaunch_s && clearly_slower(checked, incumbent_s, kProbeCut)) {
    return Screening{true, {checked}};
  }
  auto probe = calibrate(series, timer, checked_launch_s);
  if (!probe) return tl::unexpected(probe.error());
  if (clearly_slower(*probe, incumbent_s, kProbeCut)) return Screening{true, {*probe}};
  const double estimate_s = probe->per_launch_s();
  for (int i = 0; i < 1 + kLaterSamples; ++i) {
    const bool first = i == 0;
    const std::int64_t min_launches = first && estimate_s < kLongLaunch_s ? kFirstSampleLaunches : 1;
    TRY_ASSIGN(auto sample, timer.time(series, launches_for(first ? kFirstSample_s : kLaterSample_s, estimate_s,
                                                            min_launches, series.granule())));
    sample.position = i;
    screening.samples.push_back(sample);
    if (first && clearly_slower(sample, incumbent_s, kClearlySlower)) {
      screening.cut = true;
      return screening;
    }
  }
  return screening;
}

}  // namespace pgtune::gpu
