// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/screening.hpp"

#include <algorithm>
#include <cmath>

#include "tuner/model/block_length.hpp"

namespace pgtune::gpu {
namespace {

constexpr double kProbeTarget_s = 300e-6;  // long against the cost of starting and ending a block
constexpr std::int64_t kMaxProbeLaunches = 32;
constexpr double kGraphBelow_s = 20e-6;  // the host needs a few microseconds for each launch of a plan
constexpr double kFirstBlock_s = 2e-3, kLaterBlock_s = 5e-3;
constexpr int kLaterBlocks = 2;
constexpr std::int64_t kFirstBlockLaunches = 3;
constexpr double kLongLaunch_s = 5e-3;  // one launch this long makes a block by itself, and loading no difference
constexpr double kProbeCut = 3.0, kBlockCut = 1.5;

bool clearly_slower(const Block& block, double incumbent_s, double factor) {
  return incumbent_s > 0 && block.per_launch_s() > factor * incumbent_s;
}

}  // namespace

std::int64_t launches_for(double target_s, double per_launch_s, std::int64_t min_launches, std::int64_t granule) {
  // An estimate of 0 (below the events' resolution) must not become an endless block.
  constexpr double kShortestLaunch_s = 1e-6;
  const double wanted = std::ceil(target_s / std::max(per_launch_s, kShortestLaunch_s));
  const std::int64_t launches = std::max(static_cast<std::int64_t>(wanted), min_launches);
  return (launches + granule - 1) / granule * granule;
}

RoundTiming round_timing(Regime regime, double asked_s, double slowest_s) {
  constexpr double kLeadInShare = 0.2;
  // The pause is that of the CUTLASS profiler. With blocks a fifth of it the GPU works a sixth of the time at most, so
  // that its mean power stays far below the limit.
  constexpr double kBurstPause_s = 50e-3, kLongestBurst_s = 10e-3;
  const double least_s = least_block_s(slowest_s);
  if (regime == Regime::kBurst) return {kBurstPause_s, 0, std::max(std::min(asked_s, kLongestBurst_s), least_s)};
  const double block_s = std::max(asked_s, least_s);
  return {0, kLeadInShare * block_s, block_s};
}

CudaResult<Block> calibrate(LaunchSeries& series, BlockTimer& timer, double checked_launch_s) {
  auto probe = timer.time(series, 1, checked_launch_s > kLongLaunch_s ? 0 : 1);
  if (!probe || probe->per_launch_s() >= kProbeTarget_s) return probe;
  probe = timer.time(series, std::min(launches_for(kProbeTarget_s, probe->per_launch_s(), 1, 1), kMaxProbeLaunches));
  if (!probe || probe->per_launch_s() >= kGraphBelow_s) return probe;
  if (auto ok = series.capture(); !ok) return tl::unexpected(ok.error());
  return timer.time(series, series.granule());
}

double Screening::median_per_launch_s() const {
  if (blocks.empty()) return 0;
  std::vector<double> times;
  for (const Block& block : blocks) times.push_back(block.per_launch_s());
  std::sort(times.begin(), times.end());
  const std::size_t middle = times.size() / 2;
  return times.size() % 2 == 1 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
}

CudaResult<Screening> screen(LaunchSeries& series, BlockTimer& timer, double incumbent_s, double checked_launch_s) {
  Screening screening;
  Block checked;
  checked.launches = 1;
  checked.time_s = checked_launch_s;
  if (checked_launch_s > kLongLaunch_s && clearly_slower(checked, incumbent_s, kProbeCut)) {
    return Screening{true, {checked}};
  }
  auto probe = calibrate(series, timer, checked_launch_s);
  if (!probe) return tl::unexpected(probe.error());
  if (clearly_slower(*probe, incumbent_s, kProbeCut)) return Screening{true, {*probe}};
  const double estimate_s = probe->per_launch_s();
  for (int i = 0; i < 1 + kLaterBlocks; ++i) {
    const bool first = i == 0;
    const std::int64_t min_launches = first && estimate_s < kLongLaunch_s ? kFirstBlockLaunches : 1;
    auto block = timer.time(
        series, launches_for(first ? kFirstBlock_s : kLaterBlock_s, estimate_s, min_launches, series.granule()));
    if (!block) return tl::unexpected(block.error());
    block->position = i;
    screening.blocks.push_back(*block);
    if (first && clearly_slower(*block, incumbent_s, kBlockCut)) {
      screening.cut = true;
      return screening;
    }
  }
  return screening;
}

}  // namespace pgtune::gpu
