// SPDX-License-Identifier: MIT
#include "tuner/session/contest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tuner/session/answer/energy.hpp"
#include "tuner/session/answer/ranking.hpp"
#include "tuner/session/pipeline/builds.hpp"
#include "tuner/session/rounds/baseline_rounds.hpp"
#include "tuner/session/rounds/energy.hpp"
#include "tuner/session/rounds/race.hpp"

namespace pgtune::session {

void Contest::plan(std::optional<int> most_finalists) {
  plan_ = final_plan(rounds_.context.options, found_.answer.sampling);
  if (most_finalists) plan_.finalists = *most_finalists;
  algorithms_ = fastest_algorithms(opponents(), opponents().algorithms.size());
}

const BaselineReport& Contest::opponents() const {
  static const BaselineReport none;
  return rounds_.context.options.only_chooses ? none : found_.baseline();
}

Result<void> Contest::race() {
  const Answer& answer = found_.answer;
  TRY_ASSIGN(auto race, doing("in the race", run_race(rounds_, opponents(), answer.sampling, answer.floor.margin)));
  found_.take(race);
  raced_ = std::move(race.order);
  if (!race.algorithms.empty()) algorithms_ = std::move(race.algorithms);
  return {};
}

Result<bool> Contest::final() {
  TRY_ASSIGN(final_, doing("in the final",
                           run_final(rounds_, opponents(), plan_, found_.answer.floor.margin, raced_, algorithms_)));
  found_.take_end(final_.end);
  found_.answer.stages.final_s += final_.time_s;
  found_.take_final_samples(final_.field);
  return !variants_of(final_.field).empty();
}

bool Contest::is_short_at_cap() const {
  const SessionContext& context = rounds_.context;
  return found_.answer.sampling == Sampling::kShort && context.options.conditions.regime == Regime::kSustained &&
         at_power_cap(found_.final_samples(), allowed_clock_hz(context));
}

void Contest::rank_finalists() {
  if (is_short_at_cap()) {
    found_.add_notes(
        {"the power cap held the clocks down in this final, whose samples are short: ratios may be off by several "
         "percent"});
  }
  found_.answer.lead_in_s = median_lead_in_s(found_.final_samples());
  found_.answer.from_final = final_.whole();
  rank();
}

void Contest::rank() {
  Answer& answer = found_.answer;
  const Problem& problem = rounds_.context.problem;
  RankingBasis basis{baselines_of(final_.field), found_.baseline().first, answer.floor.margin,
                     planned_final_looks(plan_)};
  rank_final(problem, variants_of(final_.field), basis, answer);
  answer.confirm_rounds = 0;
  if (!is_confirmed()) return;
  basis.baselines = baselines_of(confirm_.field);
  rank_confirmed(problem, variants_of(confirm_.field), basis, answer);
}

bool Contest::is_confirmed() const {
  const bool has_baseline = baselines_of(confirm_.field).empty() == baselines_of(final_.field).empty();
  return confirm_.whole() && has_baseline && !found_.answer.ranking.empty() &&
         entry_of(confirm_.field, found_.answer.best().variant) != nullptr;
}

Result<void> Contest::confirm() {
  Answer& answer = found_.answer;
  const Variant chosen = answer.best().variant;
  const auto asked = confirm_field(final_.field, chosen);
  TRY_ASSIGN(auto confirmed,
             doing("in the confirm rounds", run_confirm(rounds_, asked, plan_.timing, answer.best().time_s)));
  found_.take_end(confirmed.end);
  answer.stages.confirm_s += confirmed.time_s;
  for (const RoundEntry& entry : asked) {
    if (entry.index && rounds_.state.trial(*entry.index).report.outcome.kind != OutcomeKind::kOk)
      leave_out(variant_of(entry.contender)->variant);
  }
  if (!variants_of(final_.field).empty()) {
    const bool has_baseline = !baselines_of(confirmed.field).empty();
    if (!has_baseline && confirmed.whole() && !baselines_of(final_.field).empty()) {
      return fail({ErrorKind::kEnvironment,
                   "the baseline failed in every one of them; the trials are kept, run the search again",
                   {}},
                  "in the confirm rounds");
    }
    found_.take_final_samples(confirmed.field);
    answer.lead_in_s = median_lead_in_s(found_.final_samples());
    confirm_ = std::move(confirmed);
    if (!confirm_.whole()) answer.from_final = false;
  }
  rank_what_is_left();
  if (is_confirmed()) note_change(chosen);
  return {};
}

/// The final's order is that of the rounds that chose, the answer's that of those that did not. Nothing where the
/// chosen one failed in these, which its outcome tells.
void Contest::note_change(const Variant& chosen) {
  const Answer& answer = found_.answer;
  const RankedVariant& best = answer.best();
  if (best.variant == chosen) return;
  const auto row = std::find_if(answer.ranking.begin(), answer.ranking.end(),
                                [&](const RankedVariant& other) { return other.variant == chosen; });
  if (row == answer.ranking.end()) return;
  found_.add_notes(
      {fmt::format("the final chose {}, but {} was {:.1f} % faster when both were measured again: it is declared, its "
                   "intervals widened for the second choice",
                   chosen.id(), best.variant.id(), 100 * (row->time_s / best.time_s - 1))});
}

Result<bool> Contest::verify() {
  TRY_ASSIGN(auto verified,
             doing("verifying the finalists", verification_.verify(found_.answer.ranking, final_.field)));
  found_.answer.stages.verify_s += verified.time_s;
  found_.add_notes(std::move(verified.notes));
  found_.take_interrupt(verified.interrupted);
  if (!verified.failed) return true;
  const auto& [variant, outcome] = *verified.failed;
  record_failure(rounds_.context, rounds_.state, *entry_of(final_.field, variant)->index, outcome);
  leave_out(variant);
  rank_what_is_left();
  return false;
}

/// Removes a failed variant from the final and from the confirm rounds: the answer ranks what is in the final.
void Contest::leave_out(const Variant& variant) {
  for (auto* const field : {&final_.field, &confirm_.field}) {
    if (const RoundEntry* const entry = entry_of(*field, variant))
      field->erase(field->begin() + (entry - field->data()));
  }
}

/// Without a variant left there is no ranking, and the next best variants may have a final.
void Contest::rank_what_is_left() {
  if (!variants_of(final_.field).empty()) return rank();
  found_.answer.ranking.clear();
  found_.answer.ties.clear();
  found_.answer.from_final = false;
}

void Contest::measure_energy(EnergyOf whose) {
  Answer& answer = found_.answer;
  if (!answer.from_final) return;
  const BaselineReport& baseline = found_.baseline();
  const auto give_up = [&](const std::string& why) { found_.add_notes({"energy was not measured: " + why}); };
  if (baseline.algorithms.empty()) return give_up("there is no baseline to compare with");
  std::vector<protocol::BuiltVariant> variants;
  for (const RoundEntry& entry : final_.field) {
    const protocol::BuiltVariant* const built = variant_of(entry.contender);
    if (built != nullptr && (whose == EnergyOf::kEveryFinalist || built->variant == answer.best().variant))
      variants.push_back(*built);
  }
  auto measured =
      session::measure_energy(rounds_.context, rounds_.progress, variants, {answer.compared_algorithm(baseline)});
  if (!measured) return give_up(measured.error().text());
  for (RankedVariant& row : answer.ranking) {
    for (std::size_t i = 0; i < variants.size(); ++i) {
      if (variants[i].variant == row.variant) row.energy = measured->variants[i];
    }
  }
  found_.take_interrupt(measured->interrupted);
  answer.baseline_energy = measured->baseline;
  answer.idle_power_w = measured->idle_power_w;
  const Objective objective = rounds_.context.options.objective;
  auto choice = choose_by_objective(objective, answer.ranking);
  mark_pareto(answer.ranking);
  if (choice.note) found_.add_notes({*choice.note});
  if (objective != Objective::kTime && answer.best().energy) answer.ties = std::move(choice.ties);
  found_.add_notes(std::move(measured->notes));
  if (auto agreement = energy_agreement(answer)) found_.add_notes({std::move(*agreement)});
}

std::vector<MeasuredVariant> Contest::screened(const std::vector<std::size_t>& indices) const {
  std::vector<MeasuredVariant> out;
  for (const std::size_t index : indices) {
    const Variant& variant = rounds_.state.variant(index);
    const StoredTrial& trial = rounds_.state.trial(index);
    const auto plan = make_plan(rounds_.context, variant);
    std::optional<std::int64_t> smem;
    if (plan) smem = smem_bytes(trial.build, *plan);
    out.push_back({variant, trial.build, smem, trial.report.samples});
  }
  return out;
}

void Contest::rank_screened() {
  auto ranked = rounds_.state.ranked();
  const auto finalists = static_cast<std::size_t>(std::max(rounds_.context.options.finalists, 1));
  ranked.resize(std::min(ranked.size(), finalists));
  if (!ranked.empty()) rank_screening(rounds_.context.problem, screened(ranked), found_.baseline(), found_.answer);
}

std::vector<RankedVariant> Contest::ranked_by_screening(const std::vector<std::size_t>& indices) const {
  Answer by_screening;
  rank_screening(rounds_.context.problem, screened(indices), found_.baseline(), by_screening);
  return std::move(by_screening.ranking);
}

std::vector<Sample> Contest::winner_samples() const {
  if (found_.answer.ranking.empty()) return {};
  const RoundEntry* const winner = entry_of(last_field(), found_.answer.best().variant);
  return winner == nullptr ? std::vector<Sample>{} : winner->samples;
}

std::vector<Sample> Contest::compared_samples() const {
  for (const MeasuredBaseline& measured : baselines_of(last_field())) {
    if (measured.algorithm == found_.answer.compared_algorithm(found_.baseline())) return measured.samples;
  }
  return {};
}

const std::vector<RoundEntry>& Contest::last_field() const { return is_confirmed() ? confirm_.field : final_.field; }

}  // namespace pgtune::session
