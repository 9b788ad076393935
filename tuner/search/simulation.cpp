// SPDX-License-Identifier: MIT
#include "tuner/search/simulation.hpp"

#include <algorithm>
#include <cmath>

#include "tuner/search/expected_missed.hpp"

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
  SearchSpace out{variants, template_sizes, tried_first,
                  [this] { return Result<std::vector<std::optional<double>>>(costs); }};
  if (!in_preset.empty()) out.in_preset = [this] { return Result<std::vector<bool>>(in_preset); };
  return out;
}

std::optional<double> MeasuredTable::best_s() const { return extreme_s(*this, std::min<double>); }
std::optional<double> MeasuredTable::worst_s() const { return extreme_s(*this, std::max<double>); }

Result<SimulatedSearch> simulated_search(const MeasuredTable& table, const SearchSpace& space,
                                         const StrategyInfo& strategy, std::uint64_t seed,
                                         std::span<const std::size_t> budgets, double margin) {
  TRY_ASSIGN(const auto made, strategy.make(space, seed));
  Strategy& search = *made;
  const double best_s = *table.best_s();
  double found_s = *table.worst_s();
  std::size_t tried = 0;
  SimulatedSearch out;
  const auto loss = [&] { return found_s / best_s - 1; };
  const auto spend_budget = [&] {
    const auto miss = search.expected_miss();
    out.losses.push_back({loss(), miss && miss->of_all ? std::optional(std::expm1(*miss->of_all)) : std::nullopt});
  };
  while (true) {
    while (out.losses.size() < budgets.size() && budgets[out.losses.size()] <= tried) spend_budget();
    const bool looks_for_stop = search.judges() && !out.stop;
    if (out.losses.size() == budgets.size() && !looks_for_stop) return out;
    const auto index = search.next();
    if (!index) {  // nothing is left
      while (out.losses.size() < budgets.size()) spend_budget();
      if (looks_for_stop) out.stop = {tried, loss()};
      return out;
    }
    ++tried;
    const Observation& observation = table.observations[*index];
    if (is_timed(observation)) found_s = std::min(found_s, observation.time_s);
    search.report(*index, observation);
    if (looks_for_stop && is_enough(search.expected_miss(), margin, tried)) out.stop = {tried, loss()};
  }
}

}  // namespace pgtune::search
