// SPDX-License-Identifier: MIT
// `pgtune report --roofline`: what this GPU reached at most on pgtune's own kernels, and where each winner sits against
// DRAM, L2 and arithmetic.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tool/pgtune/cli/context.hpp"
#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {

/// One result under its GPU's roofs. A bound is what a roof allows this problem, in FLOP/s; nothing where the roof or
/// the traffic is not known, and for DRAM where operands may stay in L2.
struct RooflinePoint {
  const StoredResult* result = nullptr;
  std::optional<Ceilings> ceilings;
  double dram_intensity = 0;           ///< FLOP per byte, every operand moved once
  std::optional<double> l2_intensity;  ///< FLOP per byte the template reads through L2
  std::optional<double> dram_bound, l2_bound, arithmetic_bound;
  std::string roof;             ///< the lowest: "DRAM", "L2", "arithmetic"; empty where none is known
  std::optional<double> share;  ///< reached of the lowest
};

/// The points of `results`, with the ceilings that `database` holds and the traffic of the templates in this build. A
/// template of another content than the one measured says nothing.
[[nodiscard]] std::vector<RooflinePoint> roofline(const Context& context, const db::Database& database,
                                                  const std::vector<StoredResult>& results);

void print_roofline_report(Terminal& terminal, const std::vector<StoredResult>& results,
                           const std::vector<RooflinePoint>& points);
[[nodiscard]] nlohmann::json roofline_report_json(const std::vector<RooflinePoint>& points);
[[nodiscard]] std::string roofline_report_csv(const std::vector<RooflinePoint>& points);

}  // namespace pgtune::tool
