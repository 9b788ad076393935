// SPDX-License-Identifier: MIT
#include "tuner/session/search_session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/session/answer/answered.hpp"
#include "tuner/session/confirm_stage.hpp"
#include "tuner/session/context.hpp"
#include "tuner/session/pipeline/quarantine.hpp"
#include "tuner/session/pipeline/search_state.hpp"
#include "tuner/session/screening.hpp"
#include "tuner/session/session_run.hpp"
#include "tuner/session/stages.hpp"
#include "tuner/session/verification_stage.hpp"
#include "tuner/space/enumerate.hpp"

namespace pgtune::session {
namespace {

Result<void> check_memory(const Problem& problem, const DeviceInfo& device) {
  constexpr double kGibibyte = 1024.0 * 1024 * 1024;
  if (problem.operand_bytes() <= device.memory_bytes) return {};
  return fail(ErrorKind::kUsage,
              fmt::format("{} needs {:.1f} GiB for its {}, {} has {:.1f} GiB: choose {}", problem.title(),
                          static_cast<double>(problem.operand_bytes()) / kGibibyte, problem.data_word(), device.name,
                          static_cast<double>(device.memory_bytes) / kGibibyte, problem.what_to_lessen()));
}

Error empty_space(const SessionContext& context, const space::Enumeration& enumeration) {
  auto removals = enumeration.removals;
  std::stable_sort(removals.begin(), removals.end(),
                   [](const auto& a, const auto& b) { return a.removed > b.removed; });
  const bool several = context.templates.definitions().size() > 1;
  std::string why;
  for (const space::Removal& removal : removals) {
    if (removal.removed == 0) break;
    why += fmt::format("\n  {} removed{}: {} ({})", removal.removed, several ? " from " + removal.template_name : "",
                       removal.reason, removal.rule);
  }
  return {ErrorKind::kUsage,
          fmt::format("no variant of {} is legal for {} on {}: all {} points of its space are ruled out; widen the "
                      "parameters or use another template{}",
                      context.templates.title(), context.problem.title(), context.device.info().name, enumeration.space,
                      why),
          {}};
}

Result<void> measure_wanted_energy(SessionRun& run) {
  const SessionOptions& options = run.context.options;
  const bool decides = options.objective != Objective::kTime;
  if (!decides && !options.measure_energy) return {};
  return energy_stage(run, decides ? EnergyOf::kEveryFinalist : EnergyOf::kWinner);
}

std::vector<SessionStage> search_stages(Screening& screening) {
  const auto build_ahead = [&](SessionRun& run) { return screening.build_ahead(run); };
  return {
      {"", build_ahead},
      {"", ceilings_stage},
      {"", build_ahead},
      {"in the baseline's steady run", [](SessionRun& run) { return steady_stage(run, AfterSteady::kRaceAndFinal); }},
      {"", build_ahead},
      {"measuring the noise floor", floor_stage},
      {"", [&](SessionRun& run) { return screening.screen(run); }},
      {"in the race", race_stage},
      {"in the final", final_stage},
      {"in the confirm rounds", confirm_stage},
      {"verifying the finalists", verification_stage},
      {"", measure_wanted_energy},
      {"", screening_ranking_stage, true}};
}

/// The space with what the store knows of it. Errors (usage): it is empty.
Result<SearchState> state_of(const SessionContext& context, const StoreKey& key) {
  TRY_ASSIGN(auto list, space::legal_variants(context.templates, context.problem, context.device.info()));
  if (list.variants.empty()) {
    const auto counted = space::enumerate(context.templates, context.problem, context.device.info());
    return tl::unexpected(counted ? empty_space(context, *counted) : counted.error());
  }

  SearchState state(std::move(list));
  if (!context.options.force) {
    auto known = context.store.trials(key);
    state.expect_right(right_elsewhere(known));
    state.resume(resumable(std::move(known), context.options.retry_failed));
  }
  return state;
}

Result<SearchResult> search(const SessionContext& context, const StoreKey& key, const ProgressCallback& callback) {
  TRY_ASSIGN(auto known, state_of(context, key));
  SearchState& state = known;
  context.store.begin(key, SessionKind::kSearch, context.options.seed, context.options.command_line);
  Screening screening(context, state);
  TRY_ASSIGN(auto ran,
             run_session(context, state, callback, {"searching " + context.problem.title(), search_stages(screening)}));
  return SearchResult{std::move(ran), {}, state.failure_examples()};
}

}  // namespace

Result<SearchResult> run_search(const Problem& problem, const space::TemplateSet& templates, device::Device& device,
                                Store& store, const SessionOptions& options, const std::atomic<bool>& stop,
                                const ProgressCallback& progress, const Clock& clock) {
  SessionContext context{problem, templates, device, store, options, stop, clock, clock.now_s()};
  TRY(check_memory(problem, device.info()));
  const StoreKey key{problem, templates, device.info(), options.conditions};
  if (auto answer = answered_already(store, key, options)) {
    SearchResult result = result_from_store(std::move(*answer));
    result.elapsed_s = context.elapsed_s();
    return result;
  }
  Quarantine quarantine = load_quarantine(context);
  context.quarantine = &quarantine;
  return search(context, key, progress);
}

}  // namespace pgtune::session
