// SPDX-License-Identifier: MIT
// Energy of the finalists and of the baseline: windows of steady load, every pass over the variants between two
// windows of the baseline, so that what drifts with the board's temperature cancels in the ratio.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tuner/model/energy_window.hpp"
#include "tuner/session/answer.hpp"
#include "tuner/session/context.hpp"
#include "tuner/session/pipeline/progress_reporter.hpp"

namespace pgtune::session {

/// Windows each variant gets.
inline constexpr int kEnergyPasses = 3;

/// A window with those of the baseline that lie next to it in time. The baseline's own windows have no neighbours.
struct NeighbouredWindow {
  EnergyWindow window;
  std::optional<EnergyWindow> before = {}, after = {};
};

/// Median and range over a contender's windows. The ratio of a window is the mean energy of its neighbours (or of the
/// one it has) over its own. Nothing where no window is of a load.
[[nodiscard]] std::optional<EnergySummary> summarise_energy(const std::vector<NeighbouredWindow>& windows);

struct EnergyResult {
  std::optional<double> idle_power_w;
  std::optional<EnergySummary> baseline;
  std::vector<std::optional<EnergySummary>> variants;  ///< beside the variants asked for; nothing where one failed
  std::vector<std::string> notes;                      ///< one sentence each
  bool interrupted = false;                            ///< by the stop flag
};

/// Measures the idle GPU, then baseline - all variants - baseline - all variants - ... in kEnergyPasses passes, the
/// variants of each pass in an order shuffled by the options' seed, and saves each window at once. Load is held between
/// windows (each has its lead-in). What fails is left without a summary and named in a note; a time budget that is over
/// or the stop flag ends the stage with what it has, and so does an environment error of the idle or a baseline's
/// window, such as a GPU without an energy counter. Precondition: prepare() was called, nothing in flight, the store's
/// session was begun. Errors: usage (a window too short for its uncertainty).
[[nodiscard]] Result<EnergyResult> measure_energy(const SessionContext& context, ProgressReporter& progress,
                                                  const std::vector<protocol::BuiltVariant>& variants,
                                                  BaselineAlgorithm baseline);

/// Expected wall time of the whole stage on a GPU.
[[nodiscard]] double expected_energy_s(std::size_t variants);

}  // namespace pgtune::session
