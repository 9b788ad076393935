// SPDX-License-Identifier: MIT
// The energy of one launch as text and JSON, and its comparison with cuBLASLt.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/session/answer.hpp"

namespace pgtune::tool {

/// "power_w", "energy_per_gemm_j" with its range, "flop_per_j" and the rest; SI units. null if not measured.
[[nodiscard]] nlohmann::json energy_json(const std::optional<session::EnergySummary>& energy, const Problem& problem);

/// "samples", "power_w", "time_s", "energy_per_gemm_j" of settled samples, with its 95 % interval, and
/// "ratio_to_baseline" with its, which are null for the baseline. null if there are too few samples.
[[nodiscard]] nlohmann::json settled_energy_json(const std::optional<session::SettledEnergy>& energy);
/// "132.1 mJ (131.8 to 132.4) per launch, 0.953 (0.950 to 0.956) of cuBLASLt's 138.6 mJ: ..." and its source.
[[nodiscard]] std::string settled_energy_text(const session::SettledEnergy& energy,
                                              const session::SettledEnergy& baseline, std::string_view baseline_name);

/// Columns of energy_cells(), to follow a column of names: speed in the problem's unit, W ("?" where counter and
/// averaged power differ), energy of one launch, its range over the windows in the same unit, GFLOP/J, MHz, share of
/// time at the power cap.
[[nodiscard]] std::vector<TextTable::Column> energy_columns(std::string_view speed_unit);
[[nodiscard]] std::vector<std::string> energy_cells(const session::EnergySummary& energy, const Problem& problem);

/// "less energy per launch: 0.958 to 0.964 of cuBLASLt's", "more ...", "within the noise", or why there is no
/// comparison. `baseline`: the energy of the baseline's best.
[[nodiscard]] std::string energy_verdict(const session::EnergySummary& energy, const session::EnergySummary& baseline,
                                         std::string_view baseline_name);

}  // namespace pgtune::tool
