// SPDX-License-Identifier: MIT
#include "tuner/session/stages.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "tuner/session/answer/energy_summary.hpp"
#include "tuner/session/answer/settled_energy.hpp"
#include "tuner/session/confirm_stage.hpp"
#include "tuner/session/pipeline/launchable.hpp"
#include "tuner/session/rounds/race.hpp"
#include "tuner/session/rounds/settled_race.hpp"
#include "tuner/session/rounds/steady_run.hpp"
#include "tuner/session/time_estimate.hpp"

namespace pgtune::session {
namespace {

/// Measures the energy of the final's variants (of `only` where given) and of the baseline's best, and puts it into the
/// ranking's rows. Nothing where it could not be measured: the evidence then says why.
std::optional<EnergyResult> measure_final_energy(SessionRun& run, const std::optional<Variant>& only) {
  const auto give_up = [&](const std::string& why) -> std::optional<EnergyResult> {
    run.evidence.add_notes({"energy was not measured: " + why});
    return std::nullopt;
  };
  const BaselineReport& baseline = run.result.baseline;
  if (baseline.algorithms.empty()) return give_up("there is no baseline to compare with");
  std::vector<protocol::BuiltVariant> variants;
  for (const RoundEntry& entry : run.final.field) {
    const protocol::BuiltVariant* const built = variant_of(entry.contender);
    if (built != nullptr && (!only || built->variant == *only)) variants.push_back(*built);
  }
  auto measured = measure_energy(run.context, run.progress, variants, {run.answer.compared_algorithm(baseline)});
  if (!measured) return give_up(measured.error().text());
  for (RankedVariant& row : run.answer.ranking) {
    for (std::size_t i = 0; i < variants.size(); ++i) {
      if (variants[i].variant == row.variant) row.energy = measured->variants[i];
    }
  }
  return std::move(*measured);
}

/// Algorithms and plan of the rounds for samples of that kind. Where they settle, also the margin of ties, which needs
/// no floor then, and progress says how long they will take.
void plan_rounds(SessionRun& run, Sampling sampling) {
  const SessionContext& context = run.context;
  run.answer.sampling = sampling;
  run.plan = final_plan(context.options, sampling);
  run.algorithms = fastest_algorithms(run.result.baseline, run.result.baseline.algorithms.size());
  if (sampling != Sampling::kSettled) return;
  run.answer.floor = {};
  run.answer.floor.margin = kSettledMargin;
  const double launch_s = baseline_launch_s(run.result.baseline);
  run.progress.settled(run.after_steady == AfterSteady::kRaceAndFinal
                           ? expected_settled_s(context.options, launch_s)
                           : expected_final_s(context.options, launch_s, sampling));
}

/// Short samples, one after another, at a clock that the power cap holds down, which is the one that the contender
/// before had earned. In the burst regime a sample's clock follows from the rest before it.
bool is_short_at_cap(const SessionRun& run) {
  return run.answer.sampling == Sampling::kShort && run.context.options.conditions.regime == Regime::kSustained &&
         at_power_cap(run.evidence.final_samples(), allowed_clock_hz(run.context));
}

/// The variants draw more than the baseline did alone.
Result<void> settle_after_all(SessionRun& run) {
  const int finalists = run.plan.finalists;
  plan_rounds(run, Sampling::kSettled);
  if (run.after_steady == AfterSteady::kFinal) run.plan.finalists = finalists;
  run.evidence.drop_samples();
  run.evidence.add_notes(
      {"the final met the power cap, though the baseline alone had not: its rounds were made again in "
       "settled samples"});
  if (run.after_steady == AfterSteady::kRaceAndFinal) {
    if (auto raced = race_stage(run); !raced || run.ended()) return raced;
  }
  return final_stage(run);
}

}  // namespace

Result<void> ceilings_stage(SessionRun& run) {
  constexpr double kAboutSeconds = 8, kMostOfBudget = 0.125;
  const SessionContext& context = run.context;
  if (context.store.ceilings(context.device.info())) return {};
  const auto& seconds = context.options.budget.seconds;
  if (seconds && kAboutSeconds > kMostOfBudget * *seconds) return {};  // a later session has the time
  run.progress.enter_rounds(Progress::Phase::kCeilings, 1, 0, kAboutSeconds);
  if (const auto ceilings = context.device.measure_ceilings()) {
    context.store.save_ceilings(*ceilings);
  } else {
    run.evidence.add_notes({"the GPU's ceilings were not measured: " + ceilings.error().text()});
  }
  return {};
}

Result<void> steady_stage(SessionRun& run, AfterSteady what) {
  const double start_s = run.context.clock.now_s();
  TRY_ASSIGN(const auto steady,
             measure_steady_run(run.context, run.result.baseline, run.progress, run.evidence.troubles()));
  run.answer.stages.steady_s = run.context.clock.now_s() - start_s;
  run.take_end(steady.end);
  run.after_steady = what;
  plan_rounds(run, steady.sampling);
  return {};
}

Result<void> floor_stage(SessionRun& run) {
  if (run.answer.sampling == Sampling::kSettled) return {};
  TRY_ASSIGN(auto floor, measure_floor(run.context, run.result.baseline, run.progress, run.evidence.troubles()));
  run.answer.floor = floor.floor;
  run.answer.stages.floor_s = floor.time_s;
  run.result.interrupted = floor.interrupted;
  run.evidence.take(floor);
  return {};
}

Result<void> screening_stage(SessionRun& run, Pipeline& pipeline, double reserve_s) {
  std::optional<double> margin;
  if (run.context.options.stop_when_enough) margin = run.answer.floor.margin;
  TRY_ASSIGN(const auto end, pipeline.run(reserve_s, margin));
  run.answer.stages.screen_s = run.state.screen_time_s();
  run.exhausted = end == Pipeline::End::kExhausted;
  run.result.budget_reached = end == Pipeline::End::kBudget;
  run.result.interrupted = end == Pipeline::End::kInterrupted;
  run.result.enough = end == Pipeline::End::kEnough;
  if (const auto miss = pipeline.expected_miss()) {
    if (miss->of_all) run.answer.expected_missed = std::expm1(*miss->of_all);
    run.answer.expected_missed_of_presets = std::expm1(miss->of_presets);
  }
  return {};
}

Result<void> race_stage(SessionRun& run) {
  const bool settled = run.answer.sampling == Sampling::kSettled;
  TRY_ASSIGN(auto race, settled ? run_settled_race(run.context, run.state, run.result.baseline, run.progress,
                                                   run.evidence.troubles())
                                : run_race(run.context, run.state, run.result.baseline, run.answer.floor.margin,
                                           run.progress, run.evidence.troubles()));
  run.answer.raced = race.entrants;
  run.answer.stages.race_s += race.time_s;
  run.raced = std::move(race.order);
  if (!race.algorithms.empty()) run.algorithms = std::move(race.algorithms);
  run.evidence.take_baseline_samples(race.baseline_samples);
  run.take_end(race.end);
  return {};
}

Result<void> final_stage(SessionRun& run) {
  const BaselineReport& baseline = run.result.baseline;
  const double margin = run.answer.floor.margin;
  TRY_ASSIGN(auto final,
             Final(run.context, run.state, baseline, run.plan, margin, run.progress, run.evidence.troubles())
                 .run(run.raced, run.algorithms));
  run.final = std::move(final);
  run.take_end(run.final.end);
  run.answer.stages.final_s += run.final.time_s;
  run.evidence.take_final_samples(run.final.field, baseline.best);
  if (variants_of(run.final.field).empty()) return {};
  if (is_short_at_cap(run)) {
    if (!run.ended()) return settle_after_all(run);
    run.evidence.add_notes(
        {"the power cap held the clocks down in this final, whose samples are short: ratios may be off by several "
         "percent"});
  }
  run.answer.lead_in_s = median_lead_in_s(run.evidence.final_samples());
  run.answer.from_final = run.final.whole();
  rank_final_of(run);
  return {};
}

void rank_final_of(SessionRun& run) {
  RankingBasis basis{baselines_of(run.final.field), run.result.baseline.first, run.answer.floor.margin,
                     planned_final_looks(run.plan)};
  rank_final(run.context.problem, variants_of(run.final.field), basis, run.answer);
  run.answer.confirm_rounds = 0;
  if (!is_confirmed(run)) return;
  basis.baselines = baselines_of(run.confirm.field);
  rank_confirmed(run.context.problem, variants_of(run.confirm.field), basis, run.answer);
}

Result<void> energy_stage(SessionRun& run, EnergyOf whose) {
  if (!run.answer.from_final) return {};
  const Objective objective = run.context.options.objective;
  std::optional<Variant> only;
  if (whose == EnergyOf::kWinner) only = run.answer.best().variant;
  auto measured = measure_final_energy(run, only);
  if (!measured) return {};
  run.result.interrupted = measured->interrupted;
  run.answer.baseline_energy = measured->baseline;
  run.answer.idle_power_w = measured->idle_power_w;
  auto choice = choose_by_objective(objective, run.answer.ranking);
  mark_pareto(run.answer.ranking);
  if (choice.note) run.evidence.add_notes({*choice.note});
  if (objective != Objective::kTime && run.answer.best().energy) run.answer.ties = std::move(choice.ties);
  run.evidence.add_notes(std::move(measured->notes));
  if (auto agreement = energy_agreement(run.answer)) run.evidence.add_notes({std::move(*agreement)});
  return {};
}

Result<void> screening_ranking_stage(SessionRun& run) {
  if (!run.answer.ranking.empty()) return {};
  auto ranked = run.state.ranked();
  const auto finalists = static_cast<std::size_t>(std::max(run.context.options.finalists, 1));
  ranked.resize(std::min(ranked.size(), finalists));
  if (ranked.empty()) return {};
  rank_screening(run.context.problem, screened_variants(run.context, run.state, ranked), run.result.baseline,
                 run.answer);
  return {};
}

std::vector<MeasuredVariant> screened_variants(const SessionContext& context, const SearchState& state,
                                               const std::vector<std::size_t>& indices) {
  std::vector<MeasuredVariant> out;
  for (const std::size_t index : indices) {
    const StoredTrial& trial = state.trial(index);
    const auto plan = make_plan(context, state.variant(index));
    std::optional<std::int64_t> smem;
    if (plan) smem = smem_bytes(trial.build, *plan);
    out.push_back({state.variant(index), trial.build, smem, trial.report.samples});
  }
  return out;
}

}  // namespace pgtune::session
