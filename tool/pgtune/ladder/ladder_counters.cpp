// SPDX-License-Identifier: MIT
#include "tool/pgtune/ladder/ladder_counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tool/pgtune/counters/counter_reading.hpp"

namespace pgtune::tool {

void read_ladder_counters(const std::filesystem::path& worker, const std::atomic<bool>& stop, LadderOutcome& outcome) {
  CounterRequest request{.gpu = outcome.device.uuid, .prepare = {outcome.problem, outcome.conditions}};
  std::vector<RungResult*> rungs;
  for (RungResult& rung : outcome.rungs) {
    // Who was right and fast enough to be timed can be launched again without surprises.
    if (!rung.measured || !rung.build) continue;
    rungs.push_back(&rung);
    request.variants.push_back({*rung.planned.variant, rung.build->plan, rung.build->info});
  }
  if (rungs.empty()) {
    outcome.counters_problem = "no rung could be measured";
    return;
  }
  auto readings = read_counters(worker, request, stop);
  if (!readings) {
    outcome.counters_problem = readings.error().text();
    return;
  }
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    LaunchCounters& read = readings->variants[i];
    if (!read.missing.empty()) {
      if (!outcome.counters_problem)
        outcome.counters_problem = fmt::format("rung '{}': {}", rungs[i]->planned.rung.name, read.missing);
      continue;
    }
    rungs[i]->counters = *std::max_element(read.kernels.begin(), read.kernels.end(),
                                           [](const auto& a, const auto& b) { return a.duration_s < b.duration_s; });
  }
}

}  // namespace pgtune::tool
