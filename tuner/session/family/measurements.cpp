// SPDX-License-Identifier: MIT
#include "tuner/session/family/measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tuner/operation/gemm_operation.hpp"
#include "tuner/search/fixed_order.hpp"
#include "tuner/session/context.hpp"
#include "tuner/session/pipeline/builds.hpp"
#include "tuner/session/pipeline/pipeline.hpp"
#include "tuner/session/pipeline/preparation.hpp"
#include "tuner/session/pipeline/screening.hpp"
#include "tuner/session/rounds/baseline_rounds.hpp"
#include "tuner/session/rounds/round_plan.hpp"
#include "tuner/session/rounds/rounds.hpp"
#include "tuner/session/sample_pairs.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/stats/descriptive.hpp"
#include "tuner/util/host_limits.hpp"
#include "tuner/util/parallel.hpp"

namespace pgtune::session {
namespace {

/// Rounds of a probe: few settled samples say as much as many short ones.
constexpr int kSettledProbeRounds = 3, kShortProbeRounds = 12;

/// Removes what is not admitted: naming the order of each of 100,000 variants takes seconds.
void keep_admitted(space::VariantList& list, const Problem& problem, const VariantFilter& admits) {
  constexpr std::size_t kAtATime = 1024;
  const std::size_t count = list.variants.size();
  std::vector<char> admitted(count);
  in_parallel((count + kAtATime - 1) / kAtATime, usable_cores(), [&](std::size_t part) {
    for (std::size_t i = part * kAtATime; i < std::min(count, (part + 1) * kAtATime); ++i)
      admitted[i] = admits(list.variants[i], problem) ? 1 : 0;
  });
  std::erase_if(list.variants, [&](const Variant& variant) {
    return admitted[static_cast<std::size_t>(&variant - list.variants.data())] == 0;
  });
}

}  // namespace

/// One M while it is measured.
struct FamilyMeasurements::AtM {
  SessionContext context;
  StoreKey key;
  SearchState state;
  bool begun = false;

  /// Opens the session and prepares the device, the first time.
  Result<void> prepare_once(ProgressReporter& progress, Opponents opponents = Opponents::kNone) {
    if (begun) return {};
    begun = true;
    context.store.begin(key, context.options.seed, context.options.command_line);
    return prepare(context, progress, opponents).map([](const Preparation&) {});
  }
  void finish() {
    if (begun) context.store.finish(std::nullopt);
  }
  [[nodiscard]] MeasuredM measured() const {
    MeasuredM out;
    for (const std::size_t i : state.ranked()) {
      const auto& samples = state.trial(i).report.samples;
      out.tried.push_back({state.variant(i), median_per_launch_s(samples), stats::median(clocks_hz(samples))});
    }
    return out;
  }
  /// In trials and in settled samples.
  void add_failed(MeasuredM& out) const {
    for (std::size_t i = 0; i < state.size(); ++i) {
      if (state.decided(i) && state.trial(i).report.outcome.kind != OutcomeKind::kOk)
        out.failed.push_back(state.variant(i));
    }
  }
  [[nodiscard]] Settled settled(std::size_t index, const Sample& sample) const {
    return {state.variant(index), sample.per_launch_s(), met_power_cap(sample, allowed_clock_hz(context))};
  }
  /// One settled sample of each, if samples can be settled; `known` ones by Variant::id() are not taken again.
  Result<void> settle(RoundContext& rounds, const std::vector<std::size_t>& wanted,
                      const std::map<std::string, Sample>& known, MeasuredM& out) {
    std::vector<std::size_t> indices;
    for (const std::size_t index : wanted) {
      const auto sample = known.find(state.variant(index).id());
      if (sample == known.end()) {
        indices.push_back(index);
      } else {
        out.settled.push_back(settled(index, sample->second));
      }
    }
    if (indices.empty() || context.stop || context.options.conditions.regime == Regime::kBurst) return {};
    TRY(prepare_once(rounds.progress));
    TRY_ASSIGN(auto field, variant_entries(rounds, indices));
    if (!field || field->empty()) return {};
    const double slowest_s = median_per_launch_s(state.trial(indices.back()).report.samples);
    rounds.progress.enter_rounds(Progress::Phase::kRace, 1, std::ssize(*field),
                                 expected_round_s(kSettledSample, field->size(), slowest_s));
    RoundRunner runner(rounds, Stage::kRace, kSettledSample, std::move(*field));
    TRY_ASSIGN(const auto end, runner.run_round());
    if (end != RoundRunner::End::kRan) return {};
    context.store.save_rounds(Stage::kRace, contender_samples(runner.field()));
    for (const RoundEntry& entry : runner.field()) {
      if (!entry.samples.empty()) out.settled.push_back(settled(*entry.index, entry.samples.front()));
    }
    return {};
  }
};

FamilyMeasurements::FamilyMeasurements(const Family& family, const space::TemplateSet& templates,
                                       device::Device& device, Store& store, const SessionOptions& options,
                                       const std::atomic<bool>& stop, const ProgressCallback& progress,
                                       const Clock& clock)
    : family_(family),
      templates_(templates),
      device_(device),
      store_(store),
      plain_(options),
      force_(options.force),
      stop_(stop),
      progress_(progress),
      clock_(clock) {
  plain_.budget = {};
  plain_.objective = Objective::kTime;
  plain_.any_m = true;
  exploring_ = plain_;
  const SessionContext context{family.problem, templates, device, store, options, stop, clock, clock.now_s()};
  quarantine_ = load_quarantine(context);
}

FamilyMeasurements::AtM FamilyMeasurements::begin(std::int64_t m, space::VariantList list) {
  const Problem problem = family_.at(m);
  AtM at{{problem, templates_, device_, store_, plain_, stop_, clock_, clock_.now_s(), &quarantine_},
         {problem, templates_, device_.info(), plain_.conditions, SessionKind::kFamily},
         SearchState(std::move(list))};
  auto known = store_.trials(at.key);
  if (force_) std::erase_if(known, [&](const auto& entry) { return !tried_.contains({m, entry.first}); });
  at.state.resume(resumable(std::move(known), plain_.retry_failed));
  return at;
}

std::map<std::string, Sample> FamilyMeasurements::known_settled(const AtM& at) {
  // Sessions of this kind save settled samples as a race, and no other.
  return force_ ? std::map<std::string, Sample>() : store_.raced(at.key);
}

Result<std::vector<std::optional<BuildInfo>>> FamilyMeasurements::build(
    const std::vector<std::pair<std::int64_t, Variant>>& wanted) {
  std::vector<std::optional<BuildInfo>> built(wanted.size());
  const auto request_of = [&](std::size_t number) -> Result<std::optional<protocol::BuildRequest>> {
    const auto& [m, variant] = wanted[number];
    const space::TemplateDefinition& definition = templates_.of(variant);
    auto request = make_search_build(definition, variant, family_.at(m), device_.info(), edges_of(plain_));
    if (!request || quarantine_.of_build(definition, device_.info(), *request)) return std::nullopt;
    return std::move(*request);
  };
  TRY(build_each(device_, stop_, wanted.size(), request_of, [&](std::size_t number, protocol::BuildDone done) {
    if (done.outcome.kind == OutcomeKind::kOk) built[number] = std::move(done.build);
  }));
  return built;
}

Result<MeasuredM> FamilyMeasurements::explore(std::int64_t m, std::int64_t count, const VariantFilter& admits,
                                              bool settles) {
  const Problem problem = family_.at(m);
  TRY_ASSIGN(auto list, space::legal_variants(templates_, problem, device_.info()));
  if (admits) keep_admitted(list, problem, admits);
  if (list.variants.empty())
    return fail(ErrorKind::kUsage,
                fmt::format("no variant of {}{} is legal for {} on {}", templates_.title(),
                            admits ? " with a plain order of sums" : "", problem.title(), device_.info().name));
  AtM at = begin(m, std::move(list));
  exploring_.budget.trials = count;
  SessionContext context{at.context.problem, templates_,  device_, store_, exploring_, stop_, clock_,
                         at.context.start_s, &quarantine_};
  ProgressReporter progress(context, progress_);
  RoundContext rounds{at.context, at.state, progress};
  if (static_cast<std::int64_t>(at.state.decided_count()) <
      std::min<std::int64_t>(count, std::ssize(at.state.variants()))) {
    store_.begin(at.key, plain_.seed, plain_.command_line);
    at.begun = true;
    Screening screening(context, at.state);
    TRY_ASSIGN(auto preparation, prepare(at.context, progress, Opponents::kNone));
    TRY(screening.await_strategy(context, progress));
    TRY(screening.run({}, NoiseFloor().margin));
  }
  MeasuredM out = at.measured();
  const auto ranked = at.state.ranked();
  if (settles && !ranked.empty()) TRY(at.settle(rounds, {ranked.front()}, known_settled(at), out));
  at.add_failed(out);
  for (const Tried& one : out.tried) tried_.emplace(m, one.variant.id());
  at.finish();
  return out;
}

Result<MeasuredM> FamilyMeasurements::try_all(std::int64_t m, const std::vector<Variant>& variants, bool settles) {
  AtM at = begin(m, {std::ssize(variants), variants});
  ProgressReporter progress(at.context, progress_);
  RoundContext rounds{at.context, at.state, progress};
  if (at.state.decided_count() < at.state.size()) {
    TRY(at.prepare_once(progress));
    search::FixedOrder strategy(at.state.size());
    Pipeline pipeline(at.context, at.state, strategy, progress);
    TRY(pipeline.run({}, NoiseFloor().margin));
  }
  MeasuredM out = at.measured();
  if (settles) TRY(at.settle(rounds, at.state.ranked(), known_settled(at), out));
  at.add_failed(out);
  for (const Tried& one : out.tried) tried_.emplace(m, one.variant.id());
  at.finish();
  return out;
}

Result<MeasuredM> FamilyMeasurements::screen(std::int64_t m, const std::vector<Variant>& variants) {
  return try_all(m, variants, false);
}

Result<MeasuredM> FamilyMeasurements::settle(std::int64_t m, const std::vector<Variant>& variants) {
  return try_all(m, variants, true);
}

Result<std::optional<FamilyProbe>> FamilyMeasurements::probe(const ProbeRequest& request) {
  std::vector<Variant> variants = request.searched;
  auto family =
      static_cast<std::size_t>(std::find(variants.begin(), variants.end(), request.family) - variants.begin());
  if (family == variants.size()) variants.push_back(request.family);
  AtM at = begin(request.m, {std::ssize(variants), variants});
  at.state = SearchState({std::ssize(variants), variants});
  ProgressReporter progress(at.context, progress_);
  RoundContext rounds{at.context, at.state, progress};
  at.begun = true;
  store_.begin(at.key, plain_.seed, plain_.command_line);
  BaselineReport baseline;
  if (request.prepared) {
    baseline = *request.prepared;
  } else {
    TRY_ASSIGN(auto preparation, prepare(at.context, progress));
    baseline = std::move(preparation.baseline);
  }
  search::FixedOrder strategy(at.state.size());
  SessionOptions full = plain_;
  full.full = true;
  SessionContext context{at.context.problem, templates_,  device_, store_, full, stop_, clock_,
                         at.context.start_s, &quarantine_};
  Pipeline pipeline(context, at.state, strategy, progress);
  TRY(pipeline.run({}, NoiseFloor().margin));
  if (stopped()) {
    at.finish();
    return std::nullopt;
  }
  std::vector<std::size_t> indices(variants.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    indices[i] = i;
    const Outcome& outcome = at.state.trial(i).report.outcome;
    if (outcome.kind != OutcomeKind::kOk)
      return fail(ErrorKind::kEnvironment, fmt::format("{}: {} failed as {}: {}", at.context.problem.title(),
                                                       variants[i].id(), to_string(outcome.kind), outcome.reason));
  }
  TRY_ASSIGN(auto field, variant_entries(rounds, indices));
  if (!field) {
    at.finish();
    return std::nullopt;
  }
  const auto algorithms = std::ssize(baseline.algorithms);
  if (baseline.first < algorithms) field->push_back(baseline_entry(baseline.first));
  if (baseline.best < algorithms && baseline.best != baseline.first) field->push_back(baseline_entry(baseline.best));
  const SampleTiming timing = request.settled ? kSettledSample : SampleTiming{kFinalSample_s, 0};
  const int planned = request.settled ? kSettledProbeRounds : kShortProbeRounds;
  const double round_s = expected_round_s(timing, field->size(), baseline_launch_s(baseline));
  progress.enter_rounds(Progress::Phase::kFinal, planned, std::ssize(variants), planned * round_s);
  RoundRunner runner(rounds, Stage::kFinal, timing, std::move(*field));
  while (runner.rounds() < planned) {
    TRY_ASSIGN(const auto end, runner.run_round());
    if (end != RoundRunner::End::kRan || runner.all_out()) {
      at.finish();
      return std::nullopt;
    }
    progress.round(runner.rounds(), planned, std::ssize(variants), (planned - runner.rounds()) * round_s);
  }
  store_.save_rounds(Stage::kFinal, contender_samples(runner.field()));
  at.finish();
  FamilyProbe out;
  out.m = request.m;
  for (const RoundEntry& entry : runner.field()) {
    if (entry.out)
      return fail(ErrorKind::kEnvironment, fmt::format("{}: a contender failed as {}: {}", at.context.problem.title(),
                                                       to_string(entry.outcome.kind), entry.outcome.reason));
    const double time_s = median_per_launch_s(entry.samples);
    if (entry.index == family) out.family_s = time_s;
    if (entry.index && *entry.index < request.searched.size() && (out.best_s == 0 || time_s < out.best_s)) {
      const Variant& best = variants[*entry.index];
      out.best = {best, templates_.of(best).content_hash};
      out.best_s = time_s;
    }
    if (const BaselineAlgorithm* const algorithm = algorithm_of(entry.contender)) {
      if (algorithm->index == baseline.first) out.baseline_first_s = time_s;
      if (algorithm->index == baseline.best) out.baseline_best_s = time_s;
    }
  }
  return out;
}

Result<bool> FamilyMeasurements::compare_rows(const std::vector<std::int64_t>& at) {
  protocol::RowsRequest request;
  TRY_ASSIGN(request.problem, operation::with_operation(family_.problem));
  std::vector<std::pair<std::int64_t, Variant>> wanted;
  for (int kernel = 0; kernel < std::ssize(family_.kernels); ++kernel) {
    const auto own = std::find_if(family_.intervals.begin(), family_.intervals.end(), [&](const auto& interval) {
      return interval.kernel == kernel || interval.spare == kernel;
    });
    wanted.emplace_back(own->last_m, family_.kernels[static_cast<std::size_t>(kernel)].variant);
  }
  TRY_ASSIGN(const auto built, build(wanted));
  if (stopped()) return false;
  for (std::size_t i = 0; i < built.size(); ++i) {
    if (!built[i])
      return fail(ErrorKind::kEnvironment, fmt::format("{} does not build any more", wanted[i].second.id()));
    request.kernels.push_back(*built[i]);
  }
  const auto add = [&](std::int64_t m, bool moved, int kernel) -> Result<void> {
    const Variant& variant = family_.kernels[static_cast<std::size_t>(kernel)].variant;
    TRY_ASSIGN(auto plan, space::make_launch_plan(templates_.of(variant), variant, family_.at(m), device_.info()));
    request.products.push_back({m, moved, kernel, std::move(plan)});
    return {};
  };
  for (const std::int64_t m : at) {
    const FamilyInterval& interval = family_.interval_of(m);
    const bool moved = m == interval.last_m || m == family_.first_m || family_.interval_of(m - 1).last_m < m;
    if (moved && interval.spare) TRY(add(m, true, *interval.spare));
    TRY(add(m, moved, interval.kernel));
  }
  TRY_ASSIGN(const auto report, device_.compare_rows(request));
  if (report.wrong.empty()) return true;
  return fail(ErrorKind::kInternal, fmt::format("{}: {}, although its kernels add in one order ({}); it is not stored",
                                                family_.title(), report.wrong, family_.sum_order));
}

}  // namespace pgtune::session
