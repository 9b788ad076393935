// SPDX-License-Identifier: MIT
// From energy windows to figures: what a launch needs, compared with the baseline's neighbouring windows; the order by
// an objective; the Pareto list of time against energy. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/model/energy_window.hpp"
#include "tuner/session/answer/answer.hpp"

namespace pgtune::session {

/// A window with those of the baseline that lie next to it in time. The baseline's own windows have no neighbours.
struct NeighbouredWindow {
  EnergyWindow window;
  std::optional<EnergyWindow> before = {}, after = {};
};

/// Median and range over a contender's windows. The ratio of a window is the mean energy of its neighbours (or of the
/// one it has) over its own. Nothing where no window is of a load.
[[nodiscard]] std::optional<EnergySummary> summarise_energy(const std::vector<NeighbouredWindow>& windows);

/// What decided an order, for the reader.
struct ObjectiveChoice {
  std::vector<std::string> ties;    ///< keys of variants not told apart from the winner by the objective
  std::optional<std::string> note;  ///< one sentence: which figure decided; nothing where it is the time
};

/// Reorders a ranking by the objective: joules of a launch, or joules times seconds, both from the energy windows. A
/// variant ties with the best where their ranges over the windows overlap; of those the faster (RankedVariant::time_s)
/// wins. The others follow by the objective, variants without energy last and in their old order. Nothing moves for
/// Objective::kTime, nor where no variant has energy (the note says so).
[[nodiscard]] ObjectiveChoice choose_by_objective(Objective objective, std::vector<RankedVariant>& ranked);

/// Sets `pareto` where no other variant is at least as fast and needs no more energy, one of them strictly. Both
/// figures are medians. Variants without energy are on no such list.
void mark_pareto(std::vector<RankedVariant>& ranked);

}  // namespace pgtune::session
