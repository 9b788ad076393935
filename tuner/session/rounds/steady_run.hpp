// SPDX-License-Identifier: MIT
// Whether a problem meets the power cap, by the baseline's own steady run.
#pragma once

#include "tuner/session/context.hpp"
#include "tuner/session/progress_reporter.hpp"
#include "tuner/session/rounds/rounds.hpp"

namespace pgtune::session {

/// Whether the clocks were held down by the power cap in a sample: for a twentieth of its time or more by the driver's
/// counter; where there is none, by a clock more than 3 % under `allowed_hz`, the locked or the highest one (0: not
/// known). Pure.
[[nodiscard]] bool met_power_cap(const Sample& sample, double allowed_hz);

/// The same of samples that may be short: the counter steps every tenth of a second, so that only its sum over many of
/// them says something. Without a counter, whether most of them ran at such a clock.
[[nodiscard]] bool at_power_cap(const std::vector<Sample>& samples, double allowed_hz);

/// The clock that conditions and device allow, 0 where it is not known.
[[nodiscard]] double allowed_clock_hz(const SessionContext& context);

struct SteadyRun {
  Sampling sampling = Sampling::kShort;
  RoundRunner::End end = RoundRunner::End::kRan;
};

/// One settled sample of the baseline's best algorithm, which is saved. Short where there is no baseline, and in the
/// burst regime, which rests between samples. Errors: those of the device.
[[nodiscard]] Result<SteadyRun> measure_steady_run(const SessionContext& context, const BaselineReport& baseline,
                                                   ProgressReporter& progress, RoundTroubles& troubles);

}  // namespace pgtune::session
