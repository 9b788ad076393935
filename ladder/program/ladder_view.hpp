// SPDX-License-Identifier: MIT
// A ladder's results as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ladder/program/ladder_plan.hpp"
#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tool/pgtune/counters/sass.hpp"
#include "tuner/model/conditions.hpp"
#include "tuner/model/kernel_counters.hpp"
#include "tuner/model/occupancy.hpp"
#include "tuner/session/store.hpp"

namespace pgtune::tool {

/// The compiler's results for a rung.
struct RungBuild {
  BuildInfo info;
  LaunchPlan plan;
  std::int64_t smem_bytes = 0;  ///< static and dynamic, of the main kernel
  Occupancy occupancy;          ///< of the main kernel
  std::optional<SassCounts> code, loop;
};

struct RungResult {
  PlannedRung planned;
  std::string failure;  ///< why a rung with a variant has no time although it should
  std::optional<RungBuild> build;
  std::optional<session::RankedVariant> measured;
  bool in_rounds = false;                  ///< measured in rounds with cuBLASLt; false: alone, because it is too slow
                                           ///< for them
  std::optional<KernelCounters> counters;  ///< of its longest kernel
};

struct LadderOutcome {
  Problem problem;
  DeviceInfo device;
  std::string device_description;
  Conditions conditions;
  std::string name, description;
  std::vector<RungResult> rungs;
  bool timed = false;                           ///< false: rungs were only built
  std::optional<session::Answer> answer;        ///< of the rounds
  std::string library;                          ///< "cuBLASLt 13.1.0"
  std::string baseline;                         ///< BaselineReport::name()
  double baseline_best_s = 0;                   ///< 0: not measured
  std::string sass_problem;                     ///< why there is no machine code
  std::optional<std::string> counters_problem;  ///< why there are no counters; empty if none were requested
  bool counters = false;                        ///< requested
  double elapsed_s = 0;
};

[[nodiscard]] std::string ladder_text(const LadderOutcome& outcome, const Terminal& terminal);
[[nodiscard]] nlohmann::json ladder_json(const LadderOutcome& outcome);

}  // namespace pgtune::tool
