// SPDX-License-Identifier: MIT
// Times contenders in turn, so that drift of the clock cancels in their ratios: one round of a race or a final, or two
// contenders compared.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"
#include "tuner/model/conditions.hpp"
#include "tuner/model/records.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::gpu {

/// How the samples of a round are timed, equal for all contenders so that each heats the GPU alike.
struct RoundTiming {
  double pause_s = 0;    ///< idle time before each sample
  double lead_in_s = 0;  ///< untimed launches before the timed ones, at least one piece of a series
  double sample_s = 0;
};

/// Sustained: samples of `asked_s` back to back, each after a lead-in of a fifth of it, so that the predecessor's power
/// state fades. Burst: each sample starts from a rested GPU, so it is preceded by a pause and one launch, which wakes
/// the GPU and fetches the code, and lasts 10 ms at most, too short for heat and power control to catch up. In both
/// regimes a sample lasts least_sample_s() of the slowest contender, `slowest_s` per launch.
[[nodiscard]] RoundTiming round_timing(Regime regime, double asked_s, double slowest_s);

struct RoundContender {
  LaunchSeries* series = nullptr;  ///< calibrated; null: it has failed and is skipped
  double per_launch_s = 0;         ///< about
};

/// `contenders` are the request's, loaded; samples that do not settle are timed as round_timing() says. Each contender
/// gets its sample or its failure; nothing if it was skipped, or after another's sticky failure. All samples are of
/// launches one by one or all of launches in graphs: series whose LaunchMode has graphs are captured first, and where
/// the host turns out too slow on the way the round is timed again. So contenders must share a mode, or be captured.
[[nodiscard]] std::vector<std::optional<CudaResult<Sample>>> time_round(std::span<const RoundContender> contenders,
                                                                        const protocol::RoundRequest& request,
                                                                        Regime regime, SampleTimer& timer);

/// The time of a launch in each round.
struct SideBySide {
  std::vector<double> first_s, second_s;
};

/// About a third of a second of samples. `launch_s`: about what a launch of either takes; both are put into graphs
/// where that is short.
[[nodiscard]] CudaResult<SideBySide> time_side_by_side(SampleTimer& timer, LaunchSeries& first, LaunchSeries& second,
                                                       double launch_s);

}  // namespace pgtune::gpu
