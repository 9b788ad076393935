// SPDX-License-Identifier: MIT
#include "pipeline/search/pipeline_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/plan/chunk_plan.hpp"
#include "pipeline/search/tried_pipelines.hpp"
#include "tuner/operation/gemm_operation.hpp"
#include "tuner/session/rounds/baseline_rounds.hpp"
#include "tuner/session/rounds/round_order.hpp"
#include "tuner/session/rounds/round_plan.hpp"

namespace pgtune::session {
namespace {

using pipeline::Candidate;

/// The state that the stages share.
struct PipelineRun {
  PipelineRun(const pipeline::StreamedProblem& searched, device::PipelineDevice& measured_on,
              PipelineStore& remembered_in, const PipelineOptions& wanted, const std::atomic<bool>& stop_flag,
              const PipelineProgressCallback& progress, const Clock& time);

  const pipeline::StreamedProblem& streamed;
  device::PipelineDevice& device;
  PipelineStore& store;
  const PipelineOptions& options;
  const std::atomic<bool>& stop;
  const PipelineProgressCallback& report;
  const Clock& clock;
  double start_s;
  PipelineAnswer answer;
  pipeline::SpaceLimits space_limits;
  pipeline::Space space;
  pipeline::Machine machine;
  std::vector<pipeline::Expected> expected;  ///< of the space
  pipeline::Candidate guess;
  std::vector<pipeline::Rung> rungs;
  std::map<std::string, pipeline::TrialResult> known;  ///< of earlier searches, by Candidate::key()
  TriedPipelines tried;
  const TriedPipeline* best = nullptr;

  [[nodiscard]] bool stopped() const { return stop.load(); }
  [[nodiscard]] bool proposals_over() const;
  void tell(PipelineProgress::Phase phase, std::int64_t done, std::int64_t total) const;
  /// Checks and screens a candidate that was not tried yet. Reuses the screening of an earlier search.
  [[nodiscard]] Result<void> try_one(const pipeline::Candidate& candidate);
};

/// A candidate must be this much faster in screening to become the centre.
constexpr double kBetter = 0.002;
constexpr double kPipelineScreen_s = 30e-3;
constexpr int kPipelineScreenSamples = 3;

PipelineRun::PipelineRun(const pipeline::StreamedProblem& searched, device::PipelineDevice& measured_on,
                         PipelineStore& remembered_in, const PipelineOptions& wanted,
                         const std::atomic<bool>& stop_flag, const PipelineProgressCallback& progress,
                         const Clock& time)
    : streamed(searched),
      device(measured_on),
      store(remembered_in),
      options(wanted),
      stop(stop_flag),
      report(progress),
      clock(time),
      start_s(time.now_s()) {
  answer.streamed = searched;
}

bool PipelineRun::proposals_over() const {
  const Budget& budget = options.budget;
  return stopped() || (budget.seconds && clock.now_s() - start_s >= *budget.seconds) ||
         (budget.trials && answer.tried >= *budget.trials);
}

void PipelineRun::tell(PipelineProgress::Phase phase, std::int64_t done, std::int64_t total) const {
  if (report) report({phase, done, total, best ? best->time_s() : 0, answer.bound.total_s});
}

Result<void> PipelineRun::try_one(const pipeline::Candidate& candidate) {
  if (tried.find(candidate) != nullptr) return {};
  TriedPipeline one;
  one.candidate = candidate;
  one.expected_s = expected_time(streamed, machine, candidate);
  if (const auto stored = known.find(candidate.key()); stored != known.end()) {
    one.result = stored->second;
  } else {
    TRY_ASSIGN(auto result, device.trial({candidate, kPipelineScreenSamples, kPipelineScreen_s}));
    one.result = std::move(result);
    store.save_trial(candidate, one.result);
  }
  ++answer.tried;
  answer.valid += one.right() ? 1 : 0;
  const TriedPipeline& added = tried.add(std::move(one));
  if (added.right() && (best == nullptr || added.time_s() < (1 - kBetter) * best->time_s())) best = &added;
  tell(PipelineProgress::Phase::kSearch, answer.tried, 0);
  return {};
}

/// Kernels that take this share of the bound's time may be the limit at their sustained clock.
constexpr double kMayLimit = 0.7;

/// At the power cap a few launches run at a higher clock than the GPU can sustain; the factor depends on the kernel. It
/// is measured for the chunks that would be the bound with slower kernels, because while copies are the limit chunks of
/// all sizes are equal.
void settle_kernels(PipelineRun& run, const std::vector<pipeline::Cut>& cuts) {
  const double total_s = pipeline::least_bound(run.streamed, run.machine, cuts).bound.total_s;
  pipeline::Machine slower = run.machine;
  slower.slowdown = 1 / kMayLimit;
  const pipeline::SpaceBound bound = pipeline::least_bound(run.streamed, slower, cuts);
  const double alone_s = compute_time(run.machine.compute, bound.cut, bound.chunk);
  const double chunks =
      static_cast<double>(extent_of(run.streamed.problem, bound.cut)) / static_cast<double>(bound.chunk);
  if (alone_s <= 0 || alone_s * chunks < kMayLimit * total_s) return;
  auto settled = run.device.settled({bound.cut, bound.chunk, kSettledSample.sample_s, kSettledSample.settle_s});
  if (!settled) {
    run.answer.notes.push_back("the clock that kernels can hold is not known: " + settled.error().text());
    return;
  }
  run.answer.settled = std::move(*settled);
  const Sample& sample = run.answer.settled->sample;
  if (!met_power_cap(sample, run.device.info().max_sm_clock_hz)) return;
  run.answer.slowdown = run.machine.slowdown = sample.per_launch_s() / alone_s;
}

Result<void> prepare_device(PipelineRun& run, const std::vector<protocol::ChunkKernel>& kernels) {
  run.tell(PipelineProgress::Phase::kPrepare, 0, 0);
  const Problem& searched = run.streamed.problem;
  const auto blocks = pipeline::checked_rows(searched.m, pipeline::affordable_rows(searched));
  TRY_ASSIGN(auto block, operation::with_operation(pipeline::rows_of(searched, blocks.front().extent)));
  pipeline::StreamedProblem streamed = run.streamed;
  TRY_ASSIGN(auto problem, operation::with_operation(streamed.problem));
  streamed.problem = std::move(problem);
  TRY_ASSIGN(auto prepared, run.device.prepare({std::move(streamed), std::move(block), run.options.pinned_limit_bytes,
                                                run.options.conditions, kernels}));
  run.answer.prepared = std::move(prepared);
  return {};
}

Result<void> time_kernels(PipelineRun& run, const std::vector<pipeline::Cut>& cuts) {
  run.machine.compute.clear();
  run.answer.chunk_times.clear();
  for (const pipeline::Cut cut : cuts) {
    run.tell(PipelineProgress::Phase::kKernels, static_cast<std::int64_t>(run.answer.chunk_times.size()), 0);
    const auto report = run.device.kernels({cut, pipeline::chunk_extents(run.streamed.problem, cut)});
    if (!report) return fail(report.error(), "timing kernels");
    for (const pipeline::ChunkTime& time : report->times) {
      run.machine.compute[cut][time.extent] = time.time_s;
      run.answer.chunk_times.push_back(time);
    }
  }
  return {};
}

/// Guessed kernels are untested: if timing kernels fails with some, it is repeated without any.
Result<void> time_kernels_or_leave_out_guesses(PipelineRun& run, const std::vector<pipeline::Cut>& cuts) {
  auto timed = time_kernels(run, cuts);
  std::vector<protocol::ChunkKernel> stored = run.options.kernels;
  const auto guesses = std::erase_if(stored, [](const protocol::ChunkKernel& kernel) { return kernel.guessed; });
  if (timed || guesses == 0) return timed;
  run.answer.notes.push_back("guessed kernels were left out: " + timed.error().text());
  if (auto prepared = prepare_device(run, stored); !prepared) return prepared;
  return time_kernels(run, cuts);
}

/// The machine's rates and kernels, the space and the bound.
Result<void> prepare_pipelines(PipelineRun& run) {
  if (auto prepared = prepare_device(run, run.options.kernels); !prepared) return prepared;
  const pipeline::Prepared& machine = run.answer.prepared;
  run.space_limits = {{machine.device_bytes, machine.pinned_bytes, machine.batched_copies.value_or(false)},
                      run.options.cut,
                      run.options.memory,
                      machine.host_nodes};
  run.space = pipeline::enumerate(run.streamed, run.space_limits);
  run.answer.space = static_cast<std::int64_t>(run.space.candidates.size());
  if (run.space.candidates.empty())
    return fail(ErrorKind::kUsage,
                fmt::format("{} has no pipeline here: {}", run.streamed.title(),
                            run.space.reasons.empty() ? "no cut divides what streams"
                                                      : fmt::format("{}", fmt::join(run.space.reasons, "; "))));
  run.tell(PipelineProgress::Phase::kRates, 0, 0);
  TRY_ASSIGN(const auto rates, run.device.rates());
  run.answer.rates = run.machine.rates = rates;
  const std::vector<pipeline::Cut> cuts = pipeline::cuts_of(run.streamed, run.space_limits);
  if (auto timed = time_kernels_or_leave_out_guesses(run, cuts); !timed) return timed;
  settle_kernels(run, cuts);
  const pipeline::SpaceBound bound = pipeline::least_bound(run.streamed, run.machine, cuts);
  run.answer.bound = bound.bound;
  run.answer.bound_cut = bound.cut;
  run.answer.bound_chunk = bound.chunk;
  run.known = run.store.trials();
  return {};
}

/// This many of the model's ranking, which differ in more than buffers, are tried before the neighbourhood.
constexpr std::size_t kFirstProposals = 6;
/// Neighbours are tried in the model's order until the predicted time exceeds the best by this factor.
constexpr double kHopeless = 1.3;
constexpr int kRefinements = 8;

/// The ladder's rungs, then the first in the model's ranking.
Result<void> climb_ladder(PipelineRun& run) {
  run.rungs = pipeline::ladder(run.streamed, run.guess, run.space_limits.limits);
  std::erase_if(run.rungs, [&](const pipeline::Rung& rung) {
    return run.options.memory && rung.candidate.memory != *run.options.memory;
  });
  if (auto ok = run.try_one(run.guess); !ok) return ok;
  for (const pipeline::Rung& rung : run.rungs) {
    if (run.stopped()) return {};
    if (auto ok = run.try_one(rung.candidate); !ok) return ok;
  }
  std::vector<Candidate> first;
  for (const pipeline::Expected& expected : run.expected) {
    if (first.size() >= kFirstProposals) break;
    const bool alike = std::any_of(first.begin(), first.end(), [&](const Candidate& other) {
      return other.chunk == expected.candidate.chunk && other.cut == expected.candidate.cut &&
             other.use == expected.candidate.use && other.memory == expected.candidate.memory;
    });
    if (!alike) first.push_back(expected.candidate);
  }
  for (const Candidate& candidate : first) {
    if (run.proposals_over()) return {};
    if (auto ok = run.try_one(candidate); !ok) return ok;
  }
  return {};
}

/// Moves to a better neighbour as long as there is one.
Result<void> refine_best(PipelineRun& run) {
  for (int step = 0; step < kRefinements && run.best != nullptr; ++step) {
    const Candidate center = run.best->candidate;
    const auto around =
        pipeline::expect(run.streamed, run.machine, pipeline::neighbours(run.streamed, center, run.space_limits));
    for (const pipeline::Expected& expected : around) {
      if (run.proposals_over()) return {};
      if (expected.time_s > kHopeless * around.front().time_s) break;
      if (auto ok = run.try_one(expected.candidate); !ok) return ok;
    }
    if (run.best->candidate == center) return {};
  }
  return {};
}

/// The first guess, the ladder's rungs, the first in the model's ranking, and neighbours of the best as long as one is
/// better.
Result<void> propose_pipelines(PipelineRun& run) {
  run.expected = pipeline::expect(run.streamed, run.machine, run.space.candidates);
  run.guess = run.expected.front().candidate;
  if (auto ok = climb_ladder(run); !ok) return ok;
  return refine_best(run);
}

/// Pipelines up to this factor slower than the best may reach the power cap like it.
constexpr double kMayMeetCap = 1.3;
constexpr double kPipelineRound_s = 60e-3;

/// Rungs, first guess and the fastest in screening, each once.
std::vector<Candidate> pipeline_contenders(const PipelineRun& run) {
  std::vector<Candidate> chosen;
  const auto add = [&](const Candidate& candidate) {
    const TriedPipeline* const known = run.tried.find(candidate);
    if (known != nullptr && known->right() && std::find(chosen.begin(), chosen.end(), candidate) == chosen.end())
      chosen.push_back(candidate);
  };
  for (const pipeline::Rung& rung : run.rungs) add(rung.candidate);
  add(run.guess);
  const std::size_t wanted = chosen.size() + run.options.finalists;
  for (const TriedPipeline* const one : run.tried.fastest_first()) {
    if (chosen.size() < wanted) add(one->candidate);
  }
  return chosen;
}

/// Contenders with samples of one kind, which take turns.
struct PipelineField {
  std::vector<Candidate> candidates;
  SampleTiming timing;
  RoundOrder order;
};

/// At the power cap, contenders that may reach it have settled samples, one after the other, so that none begins at a
/// clock that another pipeline caused. The rest leaves the GPU idle for too long to reach the cap.
std::vector<PipelineField> pipeline_fields(const PipelineRun& run) {
  std::vector<Candidate> near, rest;
  for (const Candidate& candidate : pipeline_contenders(run)) {
    const bool meets = run.answer.slowdown && run.tried.find(candidate)->time_s() <= kMayMeetCap * run.best->time_s();
    (meets ? near : rest).push_back(candidate);
  }
  const std::uint64_t seed = order_seed(run.options.seed, run.clock.utc_iso8601() + " pipeline");
  std::vector<PipelineField> fields;
  if (!near.empty()) fields.push_back({near, kSettledSample, {near.size(), seed}});
  if (!rest.empty()) fields.push_back({rest, {kPipelineRound_s, 0}, {rest.size(), seed}});
  return fields;
}

/// One round of a field; returns whether any contender has a sample.
Result<bool> race_once(PipelineRun& run, const PipelineField& field, int round) {
  protocol::PipelineRound request;
  request.candidates = field.candidates;
  request.round = round + 1;
  request.sample_s = field.timing.sample_s;
  request.settle_s = field.timing.settle_s;
  for (const std::size_t index : field.order.order(round)) request.order.push_back(static_cast<int>(index));
  TRY_ASSIGN(auto report, run.device.round(request));
  bool any = false;
  for (std::size_t i = 0; i < field.candidates.size(); ++i) {
    TriedPipeline& tried = *run.tried.find(field.candidates[i]);
    if (report.samples[i]) {
      any = true;
      run.store.save_round_sample(field.candidates[i], *report.samples[i]);
      tried.rounds.push_back(*report.samples[i]);
    } else {
      tried.result.outcome = report.outcomes[i];
    }
  }
  return any;
}

/// Balanced rounds of the best contenders.
Result<void> race_pipelines(PipelineRun& run) {
  const std::vector<PipelineField> all = pipeline_fields(run);
  if (all.empty() || run.stopped()) return {};
  for (int round = 0; round < run.options.rounds && !run.stopped(); ++round) {
    run.tell(PipelineProgress::Phase::kRounds, round + 1, run.options.rounds);
    bool any = false;
    for (const PipelineField& field : all) {
      TRY_ASSIGN(const auto measured, race_once(run, field, round));
      any = any || measured;
    }
    if (!any) break;
    ++run.answer.rounds;
  }
  run.best = run.tried.fastest();
  return {};
}

/// Checks the winner again after timing. A wrong one is dropped, and the next one is checked.
Result<void> check_winner(PipelineRun& run) {
  bool checked = run.stopped();
  while (run.best != nullptr && !checked) {
    TRY_ASSIGN(auto again, run.device.trial({run.best->candidate, 0, 0}));
    checked = again.outcome.kind == OutcomeKind::kOk;
    if (checked) break;
    run.answer.notes.push_back(
        fmt::format("{} failed when it was checked again: {}", run.best->candidate.text(), again.outcome.reason));
    run.tried.find(run.best->candidate)->result.outcome = again.outcome;
    run.store.save_trial(run.best->candidate, again);
    run.best = run.tried.fastest();
  }
  return {};
}

/// The answer, after the winner's second check.
Result<void> conclude_pipelines(PipelineRun& run) {
  if (auto ok = check_winner(run); !ok) return ok;
  run.answer.complete = !run.stopped() && run.best != nullptr && run.answer.rounds >= run.options.rounds;
  run.answer.guess = run.tried.measured(run.guess);
  for (const pipeline::Rung& rung : run.rungs)
    run.answer.ladder.push_back({rung.name, rung.trap, run.tried.measured(rung.candidate)});
  if (run.best == nullptr) return {};
  run.answer.best = run.tried.measured(run.best->candidate);
  if (const MeasuredRung* const serial = run.answer.serial())
    run.answer.serial_to_best = run.tried.ratio(serial->measured.candidate, *run.best);
  run.answer.guess_to_best = run.tried.ratio(run.guess, *run.best);
  if (run.stopped()) return {};
  if (auto steps = run.device.steps(run.best->candidate)) {
    run.answer.steps = *steps;
  } else {
    run.answer.notes.push_back("its steps were not measured alone: " + steps.error().text());
  }
  if (auto timeline = run.device.trace(run.best->candidate)) {
    run.answer.timeline = std::move(*timeline);
  } else {
    run.answer.notes.push_back("there is no timeline: " + timeline.error().text());
  }
  return {};
}

}  // namespace

Result<PipelineResult> run_pipeline_search(const pipeline::StreamedProblem& streamed, device::PipelineDevice& device,
                                           PipelineStore& store, const PipelineOptions& options,
                                           const std::atomic<bool>& stop, const PipelineProgressCallback& progress,
                                           const Clock& clock) {
  PipelineRun run(streamed, device, store, options, stop, progress, clock);
  for (const auto stage : {prepare_pipelines, propose_pipelines, race_pipelines, conclude_pipelines}) {
    TRY(stage(run));
  }
  run.answer.elapsed_s = clock.now_s() - run.start_s;
  return PipelineResult{std::move(run.answer), run.best != nullptr, run.stopped()};
}

}  // namespace pgtune::session
