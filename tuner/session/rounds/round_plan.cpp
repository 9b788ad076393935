// SPDX-License-Identifier: MIT
#include "tuner/session/rounds/round_plan.hpp"

#include <algorithm>

#include "tuner/stats/interval.hpp"

namespace pgtune::session {
namespace {

constexpr int kSettledFinalists = 2;
/// Short rounds for which a settled one counts.
constexpr int kShortRoundsOfOne = 3;

}  // namespace

FinalPlan final_plan(const SessionOptions& options, Sampling sampling) {
  FinalPlan plan;
  plan.finalists = std::max(options.finalists, 1);
  plan.rounds = std::max(options.final_rounds, 1);
  plan.max_rounds = options.max_final_rounds;
  if (sampling != Sampling::kSettled) return plan;
  if (!options.full) plan.finalists = std::min(plan.finalists, kSettledFinalists);
  plan.rounds = std::min(plan.rounds, std::max(plan.rounds / kShortRoundsOfOne, static_cast<int>(stats::kLeastValues)));
  plan.max_rounds = plan.rounds;
  plan.timing = kSettledSample;
  return plan;
}

const std::vector<SettledPass>& settled_passes() {
  static const std::vector<SettledPass> passes{{{0.1, 0.2}, 14, 3}, {kSettledSample, 4, 2}};
  return passes;
}

}  // namespace pgtune::session
