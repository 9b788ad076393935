// SPDX-License-Identifier: MIT
// `pgtune report --roofline`: this GPU's ceilings from pgtune's own kernels, and each winner's share of DRAM, L2 and
// arithmetic.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tool/pgtune/cli/context.hpp"
#include "tool/pgtune/measuring/stored_counters.hpp"
#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {

/// Bytes of one launch at a level of the memory. Measured bytes take precedence; otherwise they are computed: for DRAM
/// every operand once, for L2 the template's traffic.
struct LevelBytes {
  std::optional<double> measured, computed;
  [[nodiscard]] std::optional<double> best() const { return measured ? measured : computed; }
};

/// One result under its GPU's roofs. A bound is a roof's limit for this problem, in FLOP/s. It is nothing if the roof
/// or the traffic is unknown, and for DRAM also if operands may stay in L2 and the traffic was not measured.
struct RooflinePoint {
  const StoredResult* result = nullptr;
  std::optional<Ceilings> ceilings;
  LevelBytes dram, l2, smem;                             ///< of the winner
  LevelBytes baseline_dram, baseline_l2, baseline_smem;  ///< of the ratios' algorithm
  std::optional<double> dram_bound, l2_bound, smem_bound, arithmetic_bound;
  std::string roof;                       ///< the lowest bound: "DRAM", "L2", "smem", "arithmetic"; empty if none is
                                          ///< known
  std::optional<double> share;            ///< reached of the lowest
  std::string above;                      ///< why it may be above the lowest; empty where it is not
  std::optional<CounterReport> counters;  ///< of winner and baseline, as far as they are stored

  /// FLOP per byte; nothing if the bytes are unknown.
  [[nodiscard]] std::optional<double> intensity(const LevelBytes& level) const;
};

/// The highest of each roof.
[[nodiscard]] Ceilings highest(const Ceilings& a, const Ceilings& b);

/// The points of `results`, with the counters that `database` holds, the traffic of the templates in this build, and
/// the roofs of their device class: of several boards that were measured the highest of each. A template of another
/// content than the one measured says nothing.
[[nodiscard]] std::vector<RooflinePoint> roofline(const Context& context, const db::Database& database,
                                                  const std::vector<StoredResult>& results);

/// The roof that binds one result, and how much of it the winner reaches.
struct BindingRoof {
  std::string name;  ///< RooflinePoint::roof
  double share = 0;
};
/// By computed traffic alone, with the winner's template as it was measured, or null. Nothing where no roof is known,
/// or where the point is above it.
[[nodiscard]] std::optional<BindingRoof> binding_roof(const StoredResult& result,
                                                      const space::TemplateDefinition* definition,
                                                      const std::optional<Ceilings>& ceilings);

void print_roofline_report(Terminal& terminal, const std::vector<StoredResult>& results,
                           const std::vector<RooflinePoint>& points);
[[nodiscard]] nlohmann::json roofline_report_json(const std::vector<RooflinePoint>& points);
[[nodiscard]] std::string roofline_report_csv(const std::vector<RooflinePoint>& points);

}  // namespace pgtune::tool
