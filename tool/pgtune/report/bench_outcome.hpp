// SPDX-License-Identifier: MIT
// Measurements of chosen variants with their stored results, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tool/pgtune/measuring/chosen_variants.hpp"
#include "tool/pgtune/measuring/device_choice.hpp"
#include "tool/pgtune/measuring/stored_counters.hpp"
#include "tuner/session/bench_session.hpp"

namespace pgtune::tool {

struct BenchOutcome {
  Problem problem;
  space::TemplateSet templates;
  DeviceChoice device;
  Conditions conditions;
  std::optional<session::Answer> stored;  ///< the answer that the variants were chosen from, if any
  ChosenVariants chosen;
  session::BenchResult result;
  std::optional<Ceilings> ceilings = {};       ///< of the device, where they are known
  std::optional<CounterReport> counters = {};  ///< of the new ranking; nothing if not requested
};

/// A variant's stored result against its new measurement.
struct BenchComparison {
  const session::RankedVariant* stored = nullptr;  ///< null if there is none
  const session::RankedVariant* now = nullptr;
  session::HeldReport held;
};
/// One for each variant measured, in the order of the new ranking; pointers into `outcome`.
[[nodiscard]] std::vector<BenchComparison> comparisons(const BenchOutcome& outcome);

[[nodiscard]] std::string bench_text(const BenchOutcome& outcome, const Terminal& terminal);
[[nodiscard]] nlohmann::json bench_json(const BenchOutcome& outcome);

}  // namespace pgtune::tool
