// SPDX-License-Identifier: MIT
#include "tuner/session/pipeline/finalist_builds.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "tuner/session/pipeline/quarantine.hpp"

namespace pgtune::session {

void record_failure(const SessionContext& context, SearchState& state, std::size_t index, const Outcome& outcome) {
  StoredTrial trial = state.trial(index);
  trial.report.outcome = outcome;
  if (context.quarantine != nullptr)
    context.quarantine->note(context.problem, state.variant(index), trial.build, outcome);
  context.store.save_trial(state.variant(index), trial.build, trial.report);
  state.record(index, std::move(trial.build), std::move(trial.report));
}

Result<std::optional<std::vector<BuiltFinalist>>> build_finalists(const SessionContext& context, SearchState& state,
                                                                  const std::vector<std::size_t>& indices) {
  std::vector<std::optional<BuiltFinalist>> built(indices.size());
  std::map<protocol::RequestId, std::size_t> building;  // place in `indices`
  const std::size_t slots = std::max<std::size_t>(context.device.build_slots(), 1);
  std::size_t next = 0;
  while (next < indices.size() || !building.empty()) {
    if (context.stop.load()) return std::nullopt;
    for (; next < indices.size() && building.size() < slots; ++next) {
      const Variant& variant = state.variant(indices[next]);
      TRY_ASSIGN(auto plan, make_plan(context, variant));
      TRY_ASSIGN(auto request, make_build_request(context, variant));
      built[next] = BuiltFinalist{indices[next], std::move(plan), {}};
      building.emplace(request.id, next);
      context.device.submit_build(std::move(request));
    }
    TRY_ASSIGN(auto events, context.device.wait(std::chrono::milliseconds(100)));
    for (protocol::Event& event : events) {
      auto* done = std::get_if<protocol::BuildDone>(&event);
      const auto found = done == nullptr ? building.end() : building.find(done->id);
      if (found == building.end()) continue;
      const std::size_t place = found->second;
      building.erase(found);
      Outcome outcome = std::move(done->outcome);
      if (outcome.kind == OutcomeKind::kOk && context.quarantine != nullptr)
        outcome = context.quarantine->of_run(done->build).value_or(std::move(outcome));
      if (outcome.kind == OutcomeKind::kOk) {
        built[place]->build = std::move(done->build);
      } else {
        built[place].reset();
        record_failure(context, state, indices[place], outcome);
      }
    }
  }
  std::vector<BuiltFinalist> finalists;
  for (auto& finalist : built) {
    if (finalist) finalists.push_back(std::move(*finalist));
  }
  return finalists;
}

std::vector<RoundEntry> variant_entries(const SearchState& state, std::vector<BuiltFinalist> finalists) {
  std::vector<RoundEntry> entries;
  entries.reserve(finalists.size());
  for (BuiltFinalist& finalist : finalists) {
    const Variant& variant = state.variant(finalist.index);
    entries.push_back(
        {protocol::BuiltVariant{variant, std::move(finalist.plan), std::move(finalist.build)}, finalist.index});
  }
  return entries;
}

}  // namespace pgtune::session
