// SPDX-License-Identifier: MIT
#include "tuner/search/simulation.hpp"

#include <algorithm>
#include <cmath>

namespace pgtune::search {
namespace {

bool is_timed(const Observation& observation) {
  return observation.outcome == OutcomeKind::kOk && !observation.cut && observation.time_s > 0;
}

std::optional<double> extreme_s(const MeasuredTable& table, const double& (*choose)(const double&, const double&)) {
  std::optional<double> out;
  for (const Observation& observation : table.observations) {
    if (is_timed(observation)) out = out ? choose(*out, observation.time_s) : observation.time_s;
  }
  return out;
}

}  // namespace

SearchSpace MeasuredTable::space() const {
  return {variants, template_sizes, tried_first, [this] { return Result<std::vector<std::optional<double>>>(costs); }};
}

std::optional<double> MeasuredTable::best_s() const { return extreme_s(*this, std::min<double>); }
std::optional<double> MeasuredTable::worst_s() const { return extreme_s(*this, std::max<double>); }

Result<std::vector<SimulatedLoss>> simulated_losses(const MeasuredTable& table, const SearchSpace& space,
                                                    const StrategyInfo& strategy, std::uint64_t seed,
                                                    std::span<const std::size_t> budgets) {
  const auto made = strategy.make(space, seed);
  if (!made) return tl::unexpected<Error>(made.error());
  const double best_s = *table.best_s();
  double found_s = *table.worst_s();
  std::vector<SimulatedLoss> losses;
  std::size_t tried = 0;
  while (losses.size() < budgets.size()) {
    const auto index = tried < budgets[losses.size()] ? (*made)->next() : std::nullopt;
    if (!index) {  // the budget is spent, or nothing is left
      const auto missed = (*made)->expected_missed();
      losses.push_back({found_s / best_s - 1, missed ? std::optional(std::expm1(*missed)) : std::nullopt});
      continue;
    }
    ++tried;
    const Observation& observation = table.observations[*index];
    if (is_timed(observation)) found_s = std::min(found_s, observation.time_s);
    (*made)->report(*index, observation);
  }
  return losses;
}

}  // namespace pgtune::search
