// SPDX-License-Identifier: MIT
// What the settled samples of a final say beside the times: the energy of a launch. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/session/answer/answer.hpp"

namespace pgtune::session {

/// Of the samples that have a power; nothing where fewer than six do, as for an interval.
[[nodiscard]] std::optional<SettledEnergy> settled_energy(const std::vector<Sample>& samples);

/// Median over the settled ones among the samples; nothing where there is none.
[[nodiscard]] std::optional<double> median_lead_in_s(const std::vector<Sample>& samples);

/// Whether energy windows and settled samples agree about the winner and the baseline, within 2 %: one sentence with
/// both figures of the one that differs more. Nothing where either has no figure. Precondition: there is a winner.
[[nodiscard]] std::optional<std::string> energy_agreement(const Answer& answer);

}  // namespace pgtune::session
