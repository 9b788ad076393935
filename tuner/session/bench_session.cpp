// SPDX-License-Identifier: MIT
#include "tuner/session/bench_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "tuner/search/guided_strategy.hpp"
#include "tuner/session/contest.hpp"
#include "tuner/session/context.hpp"
#include "tuner/session/findings.hpp"
#include "tuner/session/pipeline/pipeline.hpp"
#include "tuner/session/pipeline/preparation.hpp"
#include "tuner/session/rounds/round_plan.hpp"
#include "tuner/space/enumerate.hpp"

namespace pgtune::session {
namespace {

/// The final over exactly these variants: as many finalists, no variant cut in screening, no rounds added.
SessionOptions bench_options(const SessionOptions& options, const BenchRequest& request, std::size_t variants) {
  SessionOptions out = options;
  out.budget = {};
  out.objective = Objective::kTime;
  out.measure_energy = request.measure_energy;
  out.full = true;
  out.finalists = static_cast<int>(variants);
  out.final_rounds = out.max_final_rounds = request.rounds;
  return out;
}

/// How many of the variants that are right get rounds, the fastest first; `slow` has the ranking of the others, see
/// BenchRequest::slowest_in_rounds.
int leave_out_slow(const RoundContext& rounds, const Contest& contest, double limit_s,
                   std::vector<RankedVariant>& slow) {
  const auto ranked = rounds.state.ranked();
  auto first_slow = std::find_if(ranked.begin(), ranked.end(), [&](std::size_t index) {
    return median_per_launch_s(rounds.state.trial(index).report.samples) > limit_s;
  });
  if (first_slow == ranked.begin() && first_slow != ranked.end()) ++first_slow;  // the fastest gets its rounds
  if (first_slow != ranked.end()) slow = contest.ranked_by_screening({first_slow, ranked.end()});
  return static_cast<int>(std::max<std::ptrdiff_t>(first_slow - ranked.begin(), 1));
}

/// Adds the variants that failed in `result`.
void add_failed(const SearchState& state, BenchResult& result) {
  std::set<std::string> measured;
  if (result.answer) {
    for (const RankedVariant& row : result.answer->ranking) measured.insert(row.variant.id());
  }
  for (const RankedVariant& row : result.screened) measured.insert(row.variant.id());
  for (std::size_t i = 0; i < state.size(); ++i) {
    if (measured.count(state.variant(i).id()) > 0 || !state.decided(i)) continue;
    const Outcome& outcome = state.trial(i).report.outcome;
    if (outcome.kind != OutcomeKind::kOk) result.failed.emplace_back(state.variant(i), outcome);
  }
}

/// What a bench measures on the prepared device, in its order. Returns early where the session ends: by the stop flag,
/// or because round after round was void. `screened`: see BenchResult.
Result<void> measure(RoundContext& rounds, const BenchRequest& request, Findings& found, Contest& contest,
                     std::vector<RankedVariant>& screened) {
  const SessionOptions& options = rounds.context.options;
  const double launch_s = baseline_launch_s(found.baseline());
  std::optional<int> most_finalists;
  const auto plan_rounds = [&] {
    contest.plan(most_finalists);
    if (found.answer.sampling == Sampling::kSettled)
      rounds.progress.settled(expected_final_s(options, launch_s, Sampling::kSettled));
  };

  TRY_ASSIGN(const auto steady, doing("in the baseline's steady run", measure_steady_run(rounds, found.baseline())));
  found.take(steady);
  plan_rounds();
  if (found.ended()) return {};
  if (steady.sampling == Sampling::kShort) {
    TRY_ASSIGN(const auto floor, doing("measuring the noise floor", measure_floor(rounds, found.baseline())));
    found.take(floor);
    if (found.ended()) return {};
  }

  // Every variant is built, checked and screened, in their order.
  search::GuidedStrategy strategy({{rounds.state.size(), {}}}, {}, options.seed);
  Pipeline pipeline(rounds.context, rounds.state, strategy, rounds.progress);
  const double after_s = expected_final_s(options, launch_s, steady.sampling) +
                         (request.measure_energy ? expected_energy_s(rounds.state.size()) : 0);
  TRY_ASSIGN(const auto checked,
             doing("checking the variants", pipeline.run({after_s, after_s}, found.answer.floor.margin)));
  found.take(checked);
  if (found.ended()) return {};
  if (request.slowest_in_rounds > 0) {
    most_finalists = leave_out_slow(rounds, contest, request.slowest_in_rounds * launch_s, screened);
    contest.plan(most_finalists);
  }

  // A variant that fails in the final or the verification leaves, and the others are ranked anew.
  while (!found.ended()) {
    if (found.answer.ranking.empty()) {
      TRY_ASSIGN(const bool any_left, contest.final());
      if (!any_left) break;
      if (contest.is_short_at_cap() && !found.ended()) {
        found.settle_after_all();
        plan_rounds();
      } else {
        contest.rank_finalists();
      }
    } else {
      TRY_ASSIGN(const bool through, contest.verify());
      if (through) break;
    }
  }
  if (request.measure_energy && !found.ended()) contest.measure_energy(Contest::EnergyOf::kEveryFinalist);
  return {};
}

Result<BenchResult> bench(SessionContext context, space::VariantList list, const BenchRequest& request,
                          const ProgressCallback& callback) {
  SearchState state(std::move(list));
  ProgressReporter progress(context, callback);
  RoundContext rounds{context, state, progress};
  Findings found;
  TRY_ASSIGN(auto preparation, prepare(context, progress));
  found.take(std::move(preparation));

  Contest contest(rounds, found);
  BenchResult result;
  TRY(doing("measuring " + context.problem.title() + " again",
            measure(rounds, request, found, contest, result.screened)));
  static_cast<SessionResult&>(result) =
      std::move(found).finish(rounds, contest.winner_samples(), contest.compared_samples());
  add_failed(state, result);
  return result;
}

/// The variants to measure as a space of their own; those that the problem does not allow go to `illegal`.
Result<space::VariantList> chosen(const space::TemplateSet& templates, const Problem& problem, const DeviceInfo& device,
                                  const std::vector<Variant>& variants,
                                  std::vector<std::pair<Variant, Outcome>>& illegal) {
  space::VariantList out;
  std::set<std::string> seen;
  for (const Variant& variant : variants) {
    if (!seen.insert(variant.id()).second) continue;
    ++out.space;
    auto reason = space::why_illegal(templates.of(variant), variant, problem, device);
    if (!reason) return fail(std::move(reason.error()), "variant " + variant.key());
    if (*reason) {
      illegal.emplace_back(variant, Outcome{OutcomeKind::kInvalid, **reason});
    } else {
      out.variants.push_back(variant);
    }
  }
  return out;
}

}  // namespace

Result<BenchResult> run_bench(const Problem& problem, const space::TemplateSet& templates, device::Device& device,
                              Store& store, const BenchRequest& request, const SessionOptions& options,
                              const std::atomic<bool>& stop, const ProgressCallback& progress, const Clock& clock) {
  if (request.variants.empty())
    return fail(ErrorKind::kUsage, "no variant to measure: name one or search for one first");
  if (request.rounds < kMinimumRounds) {
    return fail(ErrorKind::kUsage, fmt::format("{} rounds are too few for a 95 % interval: use {} or more",
                                               request.rounds, kMinimumRounds));
  }
  const double start_s = clock.now_s();
  std::vector<std::pair<Variant, Outcome>> illegal;
  TRY_ASSIGN(auto enumeration, chosen(templates, problem, device.info(), request.variants, illegal));

  BenchResult result;
  if (!enumeration.variants.empty()) {
    const SessionOptions adjusted = bench_options(options, request, enumeration.variants.size());
    const SessionContext context{problem, templates, device, store, adjusted, stop, clock, start_s};
    store.begin({problem, templates, device.info(), options.conditions, SessionKind::kBench}, options.seed,
                options.command_line);
    auto ran = bench(context, std::move(enumeration), request, progress);
    if (!ran) return ran;
    result = std::move(*ran);
  }
  result.failed.insert(result.failed.begin(), std::make_move_iterator(illegal.begin()),
                       std::make_move_iterator(illegal.end()));
  result.elapsed_s = clock.now_s() - start_s;
  return result;
}

}  // namespace pgtune::session
