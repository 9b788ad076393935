// SPDX-License-Identifier: MIT
#include "tuner/session/bench_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "tuner/search/guided_strategy.hpp"
#include "tuner/session/answer/energy_summary.hpp"
#include "tuner/session/context.hpp"
#include "tuner/session/evidence.hpp"
#include "tuner/session/pipeline/pipeline.hpp"
#include "tuner/session/time_estimate.hpp"
#include "tuner/space/enumerate.hpp"

namespace pgtune::session {
namespace {

/// The final over exactly these variants: as many finalists, no variant cut in screening, no rounds added.
Options bench_options(const Options& options, const BenchRequest& request, std::size_t variants) {
  Options out = options;
  out.budget = {};
  out.objective = Objective::kTime;
  out.full = true;
  out.finalists = static_cast<int>(variants);
  out.final_rounds = out.max_final_rounds = request.rounds;
  return out;
}

class Bench {
 public:
  Bench(const Context& context, const ProgressCallback& callback, space::Enumeration enumeration,
        const BenchRequest& request)
      : context_(context),
        progress_(context, callback),
        state_(std::move(enumeration)),
        measure_energy_(request.measure_energy),
        slowest_in_rounds_(request.slowest_in_rounds) {}

  Result<void> run();

  [[nodiscard]] BenchResult& result() { return result_; }

 private:
  [[nodiscard]] Result<void> measure();
  [[nodiscard]] Result<void> floor();
  [[nodiscard]] Result<void> check();
  [[nodiscard]] Result<void> final();
  [[nodiscard]] std::size_t fast_enough() const;
  void rank_screened(std::size_t fast);
  void energy(const FinalResult& final);
  [[nodiscard]] bool ended() const { return result_.interrupted || result_.gave_up; }
  void list_failed();
  void finish();

  const Context& context_;
  ProgressReporter progress_;
  SearchState state_;
  bool measure_energy_;
  double slowest_in_rounds_;
  Evidence evidence_;
  std::optional<Ranking> ranking_;
  StoredAnswer answer_;
  BenchResult result_;
};

Result<void> Bench::run() {
  auto baseline = context_.device.prepare({context_.problem, context_.options.conditions});
  if (!baseline) return fail(std::move(baseline.error()), "preparing " + context_.problem.title());
  context_.store.save_baseline(*baseline);
  result_.baseline = std::move(*baseline);
  const auto& algorithms = result_.baseline.algorithms;
  if (const auto best = static_cast<std::size_t>(result_.baseline.best); best < algorithms.size()) {
    progress_.baseline(algorithms[best].time_s);
  }
  if (auto measured = measure(); !measured) {
    return fail(std::move(measured.error()), "measuring " + context_.problem.title() + " again");
  }
  finish();
  return {};
}

Result<void> Bench::measure() {
  using Step = Result<void> (Bench::*)();
  for (const Step step : {&Bench::floor, &Bench::check, &Bench::final}) {
    if (ended()) break;
    if (auto done = (this->*step)(); !done) return done;
  }
  return {};
}

Result<void> Bench::floor() {
  auto floor = measure_floor(context_, result_.baseline, progress_, evidence_.troubles());
  if (!floor) return tl::unexpected(std::move(floor.error()));
  answer_.floor = floor->floor;
  answer_.stages.floor_s = floor->time_s;
  result_.interrupted = floor->interrupted;
  evidence_.take(*floor);
  return {};
}

Result<void> Bench::check() {
  search::GuidedStrategy strategy({{state_.size(), {}}}, {}, context_.options.seed);
  const double final_s = expected_final_s(context_.options, baseline_launch_s(result_.baseline));
  const double energy_s = measure_energy_ ? expected_energy_s(state_.size()) : 0;
  const auto end = Pipeline(context_, state_, strategy, progress_, final_s + energy_s).run();
  if (!end) return tl::unexpected(end.error());
  answer_.stages.screen_s = state_.screen_time_s();
  result_.interrupted = *end == Pipeline::End::kInterrupted;
  return {};
}

/// How many of the fastest get rounds.
std::size_t Bench::fast_enough() const {
  const auto ranked = state_.ranked();
  if (slowest_in_rounds_ <= 0) return state_.size();
  const double limit_s = slowest_in_rounds_ * baseline_launch_s(result_.baseline);
  const auto slow = std::find_if(ranked.begin(), ranked.end(), [&](std::size_t index) {
    return median_per_launch_s(state_.trial(index).report.samples) > limit_s;
  });
  return std::max<std::size_t>(static_cast<std::size_t>(slow - ranked.begin()), 1);
}

void Bench::rank_screened(std::size_t fast) {
  const auto ranked = state_.ranked();
  std::vector<MeasuredVariant> slow;
  for (std::size_t i = fast; i < ranked.size(); ++i) {
    const StoredTrial& trial = state_.trial(ranked[i]);
    slow.push_back({state_.variant(ranked[i]), trial.build, trial.build.static_smem_bytes, trial.report.samples});
  }
  if (!slow.empty()) result_.screened = rank_screening(context_.problem, slow, result_.baseline).ranked;
}

Result<void> Bench::final() {
  const double margin = answer_.floor.margin;
  const std::size_t fast = fast_enough();
  rank_screened(fast);
  Options options = context_.options;
  options.finalists = static_cast<int>(fast);
  const Context rounds{context_.problem, context_.templates, context_.device, context_.store,
                       options,          context_.stop,      context_.clock,  context_.start_s};
  auto final = Final(rounds, state_, result_.baseline, margin, progress_, evidence_.troubles()).run({});
  if (!final) return tl::unexpected(std::move(final.error()));
  result_.interrupted = final->end == RoundRunner::End::kStopped;
  result_.gave_up = final->end == RoundRunner::End::kGaveUp;
  answer_.stages.final_s = final->time_s;
  const RankingBasis basis{final->baselines(), result_.baseline.first, margin, context_.options.seed};
  evidence_.take(*final, result_.baseline.best);
  const auto variants = final->variants();
  if (variants.empty()) return {};
  answer_.complete = answer_.from_final = final->end == RoundRunner::End::kRan;
  ranking_ = rank_final(context_.problem, variants, basis);
  if (measure_energy_ && !ended()) energy(*final);
  return {};
}

void Bench::energy(const FinalResult& final) {
  auto measured =
      measure_final_energy(context_, progress_, final, result_.baseline, std::nullopt, *ranking_, evidence_);
  if (!measured) return;
  mark_pareto(ranking_->ranked);
  answer_.baseline_energy = measured->baseline;
  answer_.idle_power_w = measured->idle_power_w;
  result_.interrupted = measured->interrupted;
  evidence_.add_notes(std::move(measured->notes));
}

void Bench::list_failed() {
  std::set<std::string> measured;
  if (ranking_) {
    for (const RankedVariant& row : ranking_->ranked) measured.insert(row.variant.id());
  }
  for (const RankedVariant& row : result_.screened) measured.insert(row.variant.id());
  for (std::size_t i = 0; i < state_.size(); ++i) {
    if (measured.count(state_.variant(i).id()) > 0) continue;
    const bool failed = state_.decided(i) && state_.trial(i).report.outcome.kind != OutcomeKind::kOk;
    if (failed) {
      result_.failed.emplace_back(state_.variant(i), state_.trial(i).report.outcome);
    } else if (!ended()) {
      result_.failed.emplace_back(state_.variant(i), Outcome{OutcomeKind::kNotRecorded, "its rounds are not recorded"});
    }
  }
}

void Bench::finish() {
  list_failed();
  if (ranking_) {
    answer_.best = std::move(ranking_->best);
    answer_.ranking = std::move(ranking_->ranked);
    answer_.baseline = result_.baseline;
    answer_.counts = state_.counts();
    answer_.finished_at = context_.clock.utc_iso8601();
    answer_.voided_rounds = evidence_.troubles().voided();
    answer_.notes = evidence_.notes(context_.problem, result_.baseline, context_.options.conditions);
    result_.answer = std::move(answer_);
  }
  context_.store.finish(result_.answer);
  progress_.done();
}

/// The variants to measure as a space of their own; those that the problem does not allow go to `illegal`.
Result<space::Enumeration> chosen(const space::TemplateSet& templates, const Problem& problem, const DeviceInfo& device,
                                  const std::vector<Variant>& variants,
                                  std::vector<std::pair<Variant, Outcome>>& illegal) {
  space::Enumeration out;
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
  out.after_constraints = static_cast<std::int64_t>(out.variants.size());
  return out;
}

}  // namespace

Result<BenchResult> run_bench(const Problem& problem, const space::TemplateSet& templates, device::Device& device,
                              Store& store, const BenchRequest& request, const Options& options,
                              const std::atomic<bool>& stop, const ProgressCallback& progress, const Clock& clock) {
  if (request.variants.empty())
    return fail(ErrorKind::kUsage, "no variant to measure: name one or search for one first");
  if (request.rounds < kMinimumRounds) {
    return fail(ErrorKind::kUsage, fmt::format("{} rounds are too few for a 95 % interval: use {} or more",
                                               request.rounds, kMinimumRounds));
  }
  const double start_s = clock.now_s();
  std::vector<std::pair<Variant, Outcome>> illegal;
  auto enumeration = chosen(templates, problem, device.info(), request.variants, illegal);
  if (!enumeration) return tl::unexpected(std::move(enumeration.error()));

  BenchResult result;
  if (!enumeration->variants.empty()) {
    const Options adjusted = bench_options(options, request, enumeration->variants.size());
    const Context context{problem, templates, device, store, adjusted, stop, clock, start_s};
    store.begin({problem, templates, device.info(), device.source(), options.conditions}, SessionKind::kBench,
                options.seed, options.command_line);
    Bench bench(context, progress, std::move(*enumeration), request);
    if (auto ran = bench.run(); !ran) return tl::unexpected(std::move(ran.error()));
    result = std::move(bench.result());
  }
  result.failed.insert(result.failed.begin(), std::make_move_iterator(illegal.begin()),
                       std::make_move_iterator(illegal.end()));
  result.elapsed_s = clock.now_s() - start_s;
  return result;
}

}  // namespace pgtune::session
