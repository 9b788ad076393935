// SPDX-License-Identifier: MIT
#include "tuner/session/stages.hpp"

#include <algorithm>
#include <utility>

#include "tuner/search/guided_strategy.hpp"
#include "tuner/session/answer/energy_summary.hpp"
#include "tuner/session/evidence.hpp"
#include "tuner/session/pipeline/pipeline.hpp"
#include "tuner/session/rounds/race.hpp"
#include "tuner/session/time_estimate.hpp"
#include "tuner/space/estimate.hpp"

namespace pgtune::session {
namespace {

class Stages {
 public:
  Stages(const Context& context, SearchState& state, const BaselineReport& baseline, ProgressReporter& progress)
      : context_(context), state_(state), baseline_(baseline), progress_(progress) {}

  [[nodiscard]] Result<Measured> run();

 private:
  void measure_ceilings();
  [[nodiscard]] Result<void> floor();
  /// The templates' variants, and what the templates expect of them.
  [[nodiscard]] Result<std::vector<search::Group>> groups() const;
  [[nodiscard]] Result<void> search();
  [[nodiscard]] Result<void> race();
  [[nodiscard]] Result<void> final();
  void energy(const FinalResult& final, const RankingBasis& basis);
  void choose(const EnergyResult& energy, const FinalResult& final, const RankingBasis& basis);
  void rank_by_screening();
  void finish();
  [[nodiscard]] bool ended() const { return out_.interrupted || out_.gave_up; }
  void end(RoundRunner::End end);

  const Context& context_;
  SearchState& state_;
  const BaselineReport& baseline_;
  ProgressReporter& progress_;
  Evidence evidence_;
  std::vector<std::size_t> raced_;
  Measured out_;
};

Result<Measured> Stages::run() {
  measure_ceilings();
  using Step = Result<void> (Stages::*)();
  for (const Step step : {&Stages::floor, &Stages::search, &Stages::race, &Stages::final}) {
    if (ended()) break;
    if (auto done = (this->*step)(); !done) return tl::unexpected(std::move(done.error()));
  }
  if (!out_.ranking) rank_by_screening();
  finish();
  return std::move(out_);
}

/// Once for a device and its driver, not for every session.
void Stages::measure_ceilings() {
  constexpr double kAboutSeconds = 4;
  if (context_.device.source() != "gpu" || context_.store.ceilings(context_.device.info(), context_.device.source()))
    return;
  const auto& seconds = context_.options.budget.seconds;
  if (seconds && *seconds < 4 * kAboutSeconds) return;  // a later session has the time
  const auto ceilings = context_.device.measure_ceilings();
  if (ceilings) return context_.store.save_ceilings(*ceilings);
  evidence_.add_notes({"the GPU's ceilings were not measured: " + ceilings.error().text()});
}

Result<void> Stages::floor() {
  auto floor = measure_floor(context_, baseline_, progress_, evidence_.troubles());
  if (!floor) return fail(std::move(floor.error()), "measuring the noise floor");
  out_.floor = floor->floor;
  out_.times.floor_s = floor->time_s;
  out_.interrupted = floor->interrupted;
  evidence_.take(*floor);
  return {};
}

Result<std::vector<search::Group>> Stages::groups() const {
  std::vector<search::Group> groups;
  std::size_t index = 0;
  for (const std::size_t size : state_.template_sizes()) {
    search::Group group{size, {}};
    for (const std::size_t end = index + size; index < end; ++index) {
      const Variant& variant = state_.variant(index);
      const auto clocks =
          space::cost_clocks(context_.templates.of(variant), variant, context_.problem, context_.device.info());
      if (!clocks) return tl::unexpected<Error>(clocks.error());
      if (*clocks) group.costs.push_back(**clocks);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

Result<void> Stages::search() {
  std::vector<std::size_t> first;
  const auto add = [&](const Variant& variant) {
    if (const auto index = state_.find(variant)) first.push_back(*index);
  };
  const auto& definitions = context_.templates.definitions();
  for (const space::TemplateDefinition& definition : definitions) add(definition.default_variant());
  for (const space::TemplateDefinition& definition : definitions)
    std::for_each(definition.seeds.begin(), definition.seeds.end(), add);
  const auto groups = this->groups();
  if (!groups) return tl::unexpected<Error>(groups.error());
  search::GuidedStrategy strategy(*groups, first, context_.options.seed);
  Pipeline pipeline(context_, state_, strategy, progress_,
                    reserved_for_rounds_s(context_.options, baseline_launch_s(baseline_)));
  const auto end = pipeline.run();
  if (!end) return tl::unexpected(end.error());
  out_.times.screen_s = state_.screen_time_s();
  out_.exhausted = *end == Pipeline::End::kExhausted;
  out_.budget_reached = *end == Pipeline::End::kBudget;
  out_.interrupted = *end == Pipeline::End::kInterrupted;
  return {};
}

Result<void> Stages::race() {
  auto race = run_race(context_, state_, baseline_, out_.floor.margin, progress_, evidence_.troubles());
  if (!race) return fail(std::move(race.error()), "in the race");
  out_.raced = race->entrants;
  out_.times.race_s = race->time_s;
  raced_ = std::move(race->order);
  evidence_.take_baseline_samples(race->baseline_samples);
  end(race->end);
  return {};
}

Result<void> Stages::final() {
  auto final = Final(context_, state_, baseline_, out_.floor.margin, progress_, evidence_.troubles()).run(raced_);
  if (!final) return fail(std::move(final.error()), "in the final");
  end(final->end);
  out_.times.final_s = final->time_s;
  const RankingBasis basis{final->baselines(), baseline_.first, out_.floor.margin, context_.options.seed};
  const auto variants = final->variants();
  evidence_.take(*final, baseline_.best);
  if (variants.empty()) return {};
  out_.from_final = final->end == RoundRunner::End::kRan;
  out_.ranking = rank_final(context_.problem, variants, basis);
  const bool wanted = context_.options.measure_energy || context_.options.objective != Objective::kTime;
  if (wanted && out_.from_final) energy(*final, basis);
  return {};
}

/// Of the winner, and of every finalist where energy decides who wins. The final's answer stands whatever goes wrong.
void Stages::energy(const FinalResult& final, const RankingBasis& basis) {
  std::optional<Variant> only;
  if (context_.options.objective == Objective::kTime) only = out_.ranking->best.variant;
  auto measured = measure_final_energy(context_, progress_, final, baseline_, only, *out_.ranking, evidence_);
  if (!measured) return;
  out_.interrupted = measured->interrupted;
  out_.baseline_energy = measured->baseline;
  out_.idle_power_w = measured->idle_power_w;
  choose(*measured, final, basis);
  evidence_.add_notes(std::move(measured->notes));
}

void Stages::choose(const EnergyResult& energy, const FinalResult& final, const RankingBasis& basis) {
  auto& ranked = out_.ranking->ranked;
  auto choice = choose_by_objective(context_.options.objective, ranked);
  mark_pareto(ranked);
  if (choice.note) evidence_.add_notes({*choice.note});
  const bool decided = context_.options.objective != Objective::kTime && ranked.front().energy;
  if (!decided || energy.variants.empty()) return;
  const Variant winner = ranked.front().variant;
  for (const MeasuredVariant& variant : final.variants()) {
    if (variant.variant == winner) out_.ranking->best = best_record(context_.problem, variant, basis);
  }
  out_.ranking->best.ties = std::move(choice.ties);
}

void Stages::rank_by_screening() {
  std::vector<MeasuredVariant> screened;
  for (const std::size_t index : state_.ranked()) {
    if (screened.size() == static_cast<std::size_t>(std::max(context_.options.finalists, 1))) break;
    const StoredTrial& trial = state_.trial(index);
    screened.push_back({state_.variant(index), trial.build, 0, trial.report.samples});
  }
  if (!screened.empty()) out_.ranking = rank_screening(context_.problem, screened, baseline_);
}

void Stages::finish() {
  out_.voided_rounds = evidence_.troubles().voided();
  out_.notes = evidence_.notes(context_.problem, baseline_, context_.options.conditions);
}

void Stages::end(RoundRunner::End end) {
  out_.interrupted = end == RoundRunner::End::kStopped;
  out_.gave_up = end == RoundRunner::End::kGaveUp;
}

}  // namespace

Result<Measured> run_stages(const Context& context, SearchState& state, const BaselineReport& baseline,
                            ProgressReporter& progress) {
  return Stages(context, state, baseline, progress).run();
}

}  // namespace pgtune::session
