// SPDX-License-Identifier: MIT
#include "tuner/session/search_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tuner/session/answer/answered.hpp"
#include "tuner/session/contest.hpp"
#include "tuner/session/context.hpp"
#include "tuner/session/findings.hpp"
#include "tuner/session/pipeline/preparation.hpp"
#include "tuner/session/pipeline/quarantine.hpp"
#include "tuner/session/pipeline/screening.hpp"
#include "tuner/session/pipeline/search_state.hpp"
#include "tuner/session/rounds/round_plan.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/util/count_text.hpp"

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
    why += fmt::format("\n  {} removed{}: {} ({})", count_text(removal.removed),
                       several ? " from " + removal.template_name : "", removal.reason, removal.rule);
  }
  return {ErrorKind::kUsage,
          fmt::format("no variant of {} is legal for {} on {}: all {} points of its space are ruled out; widen the "
                      "parameters or use another template{}",
                      context.templates.title(), context.problem.title(), context.device.info().name,
                      count_text(enumeration.space), why),
          {}};
}

/// The space with what the store knows of it. Errors (usage): it is empty.
Result<SearchState> known_space(const SessionContext& context, const StoreKey& key) {
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

/// What a search measures on the prepared device, in its order. Returns early where the session ends: by the stop flag,
/// or because round after round was void.
Result<void> measure(RoundContext& rounds, Screening& screening, Findings& found, Contest& contest) {
  const SessionContext& context = rounds.context;
  const SessionOptions& options = context.options;
  const double launch_s = baseline_launch_s(found.baseline());
  const auto build_ahead = [&] { return screening.build_ahead(context, rounds.progress); };
  // What a time budget keeps for the rounds, and how long they take in any case.
  const auto reserved_s = [&] {
    return reserved_for_rounds_s(options, launch_s, found.answer.sampling, context.time_left_s());
  };
  const auto rounds_s = [&](double reserve_s) {
    const auto left_s = options.budget.seconds ? std::optional(std::max(reserve_s, 0.0)) : std::nullopt;
    return expected_rounds_s(options, launch_s, found.answer.sampling, left_s);
  };
  const auto plan_rounds = [&] {
    contest.plan();
    if (found.answer.sampling == Sampling::kSettled) rounds.progress.settled(rounds_s(reserved_s()));
  };

  // The compile workers build what will be screened while the GPU measures what must be known before.
  TRY(build_ahead());
  if (!options.only_chooses) found.add_notes(measure_ceilings(context, rounds.progress));
  TRY(build_ahead());

  // Samples are short below the power cap, and settled where the baseline's steady run met it.
  SteadyRun steady;
  if (options.sampling) {
    steady.sampling = *options.sampling;
  } else {
    TRY_ASSIGN(steady, doing("in the baseline's steady run", measure_steady_run(rounds, found.baseline())));
  }
  found.take(steady);
  plan_rounds();
  if (found.ended()) return {};
  TRY(build_ahead());
  if (steady.sampling == Sampling::kShort && !options.only_chooses) {
    TRY_ASSIGN(const auto floor, doing("measuring the noise floor", measure_floor(rounds, found.baseline())));
    found.take(floor);
  }

  TRY(screening.await_strategy(context, rounds.progress));
  found.add_notes(screening.notes());
  const double reserve_s = reserved_s();
  TRY_ASSIGN(const auto screened, screening.run({reserve_s, rounds_s(reserve_s)}, found.answer.floor.margin));
  found.take(screened);
  if (found.ended()) return {};

  // The winner has to pass the final, confirm rounds and the verification. A variant that fails leaves, and the others
  // are ranked anew. With none left the ranking is empty, and the next best variants have a final.
  TRY(contest.race());
  while (!found.ended()) {
    if (found.answer.ranking.empty()) {
      TRY_ASSIGN(const bool any_left, contest.final());
      if (!any_left) break;
      if (contest.is_short_at_cap() && !found.ended()) {
        found.settle_after_all();
        plan_rounds();
        TRY(contest.race());
      } else {
        contest.rank_finalists();
      }
    } else if (options.only_chooses) {
      break;
    } else if (contest.is_unconfirmed()) {
      TRY(contest.confirm());
    } else {
      TRY_ASSIGN(const bool through, contest.verify());
      if (through) break;
    }
  }
  if (found.ended()) return {};

  const bool energy_decides = options.objective != Objective::kTime;
  if (energy_decides || options.measure_energy)
    contest.measure_energy(energy_decides ? Contest::EnergyOf::kEveryFinalist : Contest::EnergyOf::kWinner);
  return {};
}

Result<SearchResult> search(const SessionContext& context, const StoreKey& key, const ProgressCallback& callback) {
  TRY_ASSIGN(SearchState state, known_space(context, key));
  context.store.begin(key, context.options.seed, context.options.command_line);
  Screening screening(context, state);  // its strategy is made while the device is prepared
  SessionContext prepared = context;
  ProgressReporter progress(prepared, callback);
  RoundContext rounds{prepared, state, progress};
  Findings found;
  TRY_ASSIGN(auto preparation, prepare(prepared, progress));
  state.forget_launched_otherwise(preparation.baseline.in_graphs);
  found.take(std::move(preparation));

  Contest contest(rounds, found);
  TRY(doing("searching " + context.problem.title(), measure(rounds, screening, found, contest)));
  found.answer.strategy = screening.strategy();
  if (found.answer.ranking.empty()) contest.rank_screened();
  return SearchResult{std::move(found).finish(rounds, contest.winner_samples(), contest.compared_samples()),
                      {},
                      state.failure_examples()};
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
