// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/round.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include "tuner/model/sample_length.hpp"

namespace pgtune::gpu {
namespace {

using Samples = std::vector<std::optional<CudaResult<Sample>>>;

CudaResult<Sample> time_one(const RoundContender& contender, const RoundTiming& timing, double settle_s,
                            SampleTimer& timer) {
  LaunchSeries& series = *contender.series;
  if (settle_s > 0) return timer.time_settled(series, contender.per_launch_s, timing.sample_s, SettlingRule(settle_s));
  const auto launches_in = [&](double seconds) {
    return launches_for(seconds, contender.per_launch_s, 1, series.granule());
  };
  return timer.time(series, launches_in(timing.sample_s), launches_in(timing.lead_in_s), Watch::kThrottling);
}

bool has_lost_context(const Samples& samples) {
  return std::any_of(samples.begin(), samples.end(),
                     [](const auto& sample) { return sample && !*sample && sample->error().sticky; });
}

/// Captures the series that need graphs and have none; one that cannot be captured gets the failure. Returns whether
/// there were any.
bool follow_mode(std::span<const RoundContender> contenders, Samples& samples) {
  bool followed = false;
  for (std::size_t i = 0; i < contenders.size() && !has_lost_context(samples); ++i) {
    LaunchSeries* const series = contenders[i].series;
    const bool failed = samples[i] && !*samples[i];
    if (series == nullptr || failed || series->captured() || !series->mode().in_graphs()) continue;
    followed = true;
    if (const auto captured = series->follow_mode(contenders[i].per_launch_s); !captured)
      samples[i] = tl::unexpected(captured.error());
  }
  return followed;
}

/// A sample for each contender that has not failed.
void time_all(std::span<const RoundContender> contenders, const protocol::RoundRequest& request,
              const RoundTiming& timing, SampleTimer& timer, Samples& samples) {
  for (auto& sample : samples) {
    if (sample && *sample) sample.reset();
  }
  for (std::size_t position = 0; position < request.order.size() && !has_lost_context(samples); ++position) {
    const auto index = static_cast<std::size_t>(request.order[position]);
    if (contenders[index].series == nullptr || samples[index]) continue;
    if (timing.pause_s > 0) std::this_thread::sleep_for(std::chrono::duration<double>(timing.pause_s));
    auto sample = time_one(contenders[index], timing, request.settle_s, timer);
    if (sample) {
      sample->stage = request.stage;
      sample->round = request.round;
      sample->position = static_cast<int>(position);
    }
    samples[index] = std::move(sample);
  }
}

constexpr int kRounds = 6;
constexpr double kSample_s = 20e-3, kLeadIn_s = 5e-3;
/// The host may not keep up with shorter ones.
constexpr double kInGraphsBelow_s = 40e-6;
constexpr std::int64_t kLeastLaunches = 3;

}  // namespace

RoundTiming round_timing(Regime regime, double asked_s, double slowest_s) {
  constexpr double kLeadInShare = 0.2;
  // The CUTLASS profiler's pause. With samples of a fifth of it, the GPU works at most a sixth of the time, so its mean
  // power stays far below the limit.
  constexpr double kBurstPause_s = 50e-3, kLongestBurst_s = 10e-3;
  const double least_s = least_sample_s(slowest_s);
  if (regime == Regime::kBurst) return {kBurstPause_s, 0, std::max(std::min(asked_s, kLongestBurst_s), least_s)};
  const double sample_s = std::max(asked_s, least_s);
  return {0, kLeadInShare * sample_s, sample_s};
}

std::vector<std::optional<CudaResult<Sample>>> time_round(std::span<const RoundContender> contenders,
                                                          const protocol::RoundRequest& request, Regime regime,
                                                          SampleTimer& timer) {
  double slowest_s = 0;
  for (const RoundContender& contender : contenders) slowest_s = std::max(slowest_s, contender.per_launch_s);
  const RoundTiming timing = round_timing(regime, request.sample_s, slowest_s);
  Samples samples(contenders.size());
  static_cast<void>(follow_mode(contenders, samples));
  time_all(contenders, request, timing, timer, samples);
  if (follow_mode(contenders, samples)) time_all(contenders, request, timing, timer, samples);
  return samples;
}

CudaResult<SideBySide> time_side_by_side(SampleTimer& timer, LaunchSeries& first, LaunchSeries& second,
                                         double launch_s) {
  const std::array series{&first, &second};
  for (LaunchSeries* one : series) {
    // Loaded before a capture.
    TRY(one->enqueue(kLeastLaunches));
    if (launch_s >= kInGraphsBelow_s) continue;
    TRY(one->capture(launch_s));
  }
  SideBySide out;
  const std::array times{&out.first_s, &out.second_s};
  for (int round = 0; round < kRounds; ++round) {
    for (int turn = 0; turn < 2; ++turn) {
      const auto now = static_cast<std::size_t>((turn + round) % 2);
      const std::int64_t granule = series[now]->granule();
      TRY_ASSIGN(const auto sample, timer.time(*series[now], launches_for(kSample_s, launch_s, kLeastLaunches, granule),
                                               launches_for(kLeadIn_s, launch_s, 1, granule)));
      times[now]->push_back(sample.per_launch_s());
    }
  }
  return out;
}

}  // namespace pgtune::gpu
