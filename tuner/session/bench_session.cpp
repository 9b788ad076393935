// SPDX-License-Identifier: MIT
#include "tuner/session/bench_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "tuner/search/guided_strategy.hpp"
#include "tuner/session/context.hpp"
#include "tuner/session/pipeline/pipeline.hpp"
#include "tuner/session/session_run.hpp"
#include "tuner/session/stages.hpp"
#include "tuner/session/time_estimate.hpp"
#include "tuner/session/verification_stage.hpp"
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

/// Every variant, in their order.
Result<void> check(SessionRun& run) {
  const SessionOptions& options = run.context.options;
  search::GuidedStrategy strategy({{run.state.size(), {}}}, {}, options.seed);
  const double final_s = expected_final_s(options, baseline_launch_s(run.result.baseline), run.answer.sampling);
  Pipeline pipeline(run.context, run.state, strategy, run.progress);
  return screening_stage(run, pipeline, final_s + (options.measure_energy ? expected_energy_s(run.state.size()) : 0));
}

/// Leaves those to screening that are too slow for rounds: they are no finalists, and `slow` has their ranking.
void leave_out_slow(SessionRun& run, double slowest_in_rounds, std::vector<RankedVariant>& slow) {
  if (slowest_in_rounds <= 0) return;
  const double limit_s = slowest_in_rounds * baseline_launch_s(run.result.baseline);
  auto ranked = run.state.ranked();
  auto first_slow = std::find_if(ranked.begin(), ranked.end(), [&](std::size_t index) {
    return median_per_launch_s(run.state.trial(index).report.samples) > limit_s;
  });
  if (first_slow == ranked.begin() && first_slow != ranked.end()) ++first_slow;  // the fastest gets its rounds
  run.plan.finalists = static_cast<int>(std::max<std::ptrdiff_t>(first_slow - ranked.begin(), 1));
  const std::vector<std::size_t> left_out(first_slow, ranked.end());
  if (left_out.empty()) return;
  Answer by_screening;
  rank_screening(run.context.problem, screened_variants(run.context, run.state, left_out), run.result.baseline,
                 by_screening);
  slow = std::move(by_screening.ranking);
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

Result<BenchResult> bench(const SessionContext& context, space::VariantList list, const BenchRequest& request,
                          const ProgressCallback& progress) {
  SearchState state(std::move(list));
  std::vector<RankedVariant> screened;
  const auto final = [&](SessionRun& run) {
    leave_out_slow(run, request.slowest_in_rounds, screened);
    return final_stage(run);
  };
  const auto energy = [&](SessionRun& run) {
    return request.measure_energy ? energy_stage(run, EnergyOf::kEveryFinalist) : Result<void>{};
  };
  auto ran = run_session(
      context, state, progress,
      {"measuring " + context.problem.title() + " again",
       {{"in the baseline's steady run", [](SessionRun& run) { return steady_stage(run, AfterSteady::kFinal); }},
        {"measuring the noise floor", floor_stage},
        {"checking the variants", check},
        {"in the final", final},
        {"verifying the finalists", verification_stage},
        {"", energy}}});
  if (!ran) return tl::unexpected(std::move(ran.error()));
  BenchResult result{std::move(*ran), std::move(screened), {}};
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
    store.begin({problem, templates, device.info(), options.conditions}, SessionKind::kBench, options.seed,
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
