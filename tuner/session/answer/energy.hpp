// SPDX-License-Identifier: MIT
// Energy in an answer: that of a launch by the settled samples of a final, the order by an objective of energy, and the
// Pareto list of time against energy. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/session/answer.hpp"

namespace pgtune::session {

/// Energy from the samples with a power; nothing if fewer than six have one, as for an interval. Includes a ratio to
/// the energy of `baseline` if six rounds have a power of both. `looks`: the intervals hold over that many looks, like
/// those of times.
[[nodiscard]] std::optional<SettledEnergy> settled_energy(const std::vector<Sample>& samples,
                                                          const std::vector<Sample>& baseline = {}, int looks = 1);

/// Median over the settled ones among the samples; nothing where there is none.
[[nodiscard]] std::optional<double> median_lead_in_s(const std::vector<Sample>& samples);

/// Whether energy windows and settled samples agree about the winner and the baseline: their difference is no more than
/// the half width of the samples' interval and the windows' uncertainty together, which are known. One sentence with
/// both figures of the one that differs more by that measure. Nothing where either has no figure. Precondition: there
/// is a winner.
[[nodiscard]] std::optional<std::string> energy_agreement(const Answer& answer);

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
