// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/side_by_side.hpp"

#include <array>

namespace pgtune::gpu {
namespace {

constexpr int kRounds = 6;
constexpr double kSample_s = 20e-3, kLeadIn_s = 5e-3;
/// Shorter ones the host may not keep up with.
constexpr double kInGraphsBelow_s = 40e-6;
constexpr std::int64_t kLeastLaunches = 3;

}  // namespace

CudaResult<SideBySide> time_side_by_side(SampleTimer& timer, LaunchSeries& first, LaunchSeries& second,
                                         double launch_s) {
  const std::array series{&first, &second};
  for (LaunchSeries* one : series) {
    // Loaded before a capture.
    if (auto ok = one->enqueue(kLeastLaunches); !ok) return tl::unexpected(ok.error());
    if (launch_s >= kInGraphsBelow_s) continue;
    if (auto ok = one->capture(launch_s); !ok) return tl::unexpected(ok.error());
  }
  SideBySide out;
  const std::array times{&out.first_s, &out.second_s};
  for (int round = 0; round < kRounds; ++round) {
    for (int turn = 0; turn < 2; ++turn) {
      const auto now = static_cast<std::size_t>((turn + round) % 2);
      const std::int64_t granule = series[now]->granule();
      const auto sample = timer.time(*series[now], launches_for(kSample_s, launch_s, kLeastLaunches, granule),
                                     launches_for(kLeadIn_s, launch_s, 1, granule));
      if (!sample) return tl::unexpected(sample.error());
      times[now]->push_back(sample->per_launch_s());
    }
  }
  return out;
}

}  // namespace pgtune::gpu
