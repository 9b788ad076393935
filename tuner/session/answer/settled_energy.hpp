// SPDX-License-Identifier: MIT
// What the settled samples of a final say beside the times: the energy of a launch. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/session/answer/answer.hpp"

namespace pgtune::session {

/// Of the samples that have a power; nothing where fewer than six do, as for an interval. With a ratio to the energy of
/// `baseline` where six rounds have a power of both. `looks`: the intervals hold over that many, as those of times do.
[[nodiscard]] std::optional<SettledEnergy> settled_energy(const std::vector<Sample>& samples,
                                                          const std::vector<Sample>& baseline = {}, int looks = 1);

/// Median over the settled ones among the samples; nothing where there is none.
[[nodiscard]] std::optional<double> median_lead_in_s(const std::vector<Sample>& samples);

/// Whether energy windows and settled samples agree about the winner and the baseline: their difference is no more than
/// the half width of the samples' interval and the windows' uncertainty together, which are known. One sentence with
/// both figures of the one that differs more by that measure. Nothing where either has no figure. Precondition: there
/// is a winner.
[[nodiscard]] std::optional<std::string> energy_agreement(const Answer& answer);

}  // namespace pgtune::session
