// SPDX-License-Identifier: MIT
#include "pipeline/plan/stream_turns.hpp"

#include <algorithm>
#include <utility>

namespace pgtune::pipeline {
namespace {

constexpr std::int64_t kColumns = 512;

bool is_pinned(HostMemory memory) {
  return memory == HostMemory::kPinned || memory == HostMemory::kRegistered || memory == HostMemory::kWriteCombined;
}

/// Of copies without turns.
double copying_time_s(const Schedule& schedule, const CopyRates& rates, const Candidate& candidate) {
  Machine without;
  without.rates = rates;
  without.rates.latency_s = without.rates.issue_s = 0;
  return simulate(without, candidate, schedule).total_s;
}

/// One copy fills the pipeline; after it every copy of the slower direction follows another.
double turns_in(const Schedule& schedule) {
  const auto calls = std::count_if(schedule.operations.begin(), schedule.operations.end(),
                                   [](const Operation& one) { return one.step == Step::kCopyIn && !one.merged; });
  return static_cast<double>(calls + 1);
}

}  // namespace

StreamedProblem turns_problem(std::int64_t chunk_bytes) {
  StreamedProblem streamed;
  Problem& problem = streamed.problem;
  problem.dtype = Dtype::kBf16;
  problem.n = problem.k = kColumns;
  problem.m = kTurnsChunks * std::max<std::int64_t>(chunk_bytes / (2 * kColumns), 1);
  problem = with_default_strides(problem).value();
  streamed.a = streamed.d = true;
  return streamed;
}

std::vector<Candidate> turns_candidates(const StreamedProblem& streamed, bool batched_copies) {
  std::vector<Candidate> candidates;
  for (const Submission submission : {Submission::kLoop, Submission::kGraph}) {
    Candidate candidate;
    candidate.chunk = streamed.problem.m / kTurnsChunks;
    candidate.submission = submission;
    for (const int streams : {2, 3, 4, 8}) {
      candidate.streams = candidate.buffers = streams;
      candidates.push_back(candidate);
    }
    candidate.use = StreamUse::kLanes;
    candidate.streams = 1;
    candidate.buffers = 3;
    candidates.push_back(candidate);
  }
  if (batched_copies) {
    Candidate batched = candidates.back();
    batched.submission = Submission::kBatched;
    batched.order = IssueOrder::kBreadthFirst;
    batched.buffers = 4;
    candidates.push_back(batched);
  }
  return candidates;
}

StreamTurn turn_of(const StreamedProblem& streamed, const CopyRates& rates, const Candidate& candidate,
                   double measured_s) {
  const Schedule schedule = make_schedule(streamed, candidate);
  const double copying_s = copying_time_s(schedule, rates, candidate);
  return {candidate.use, candidate.streams, candidate.submission,
          std::max(0.0, (measured_s - copying_s) / turns_in(schedule))};
}

CopyRates with_turns(const StreamedProblem& streamed, CopyRates rates, const std::vector<TurnsLoop>& loops) {
  rates.turns.reset();
  double raise = 1;
  for (const TurnsLoop& loop : loops) {
    const Schedule schedule = make_schedule(streamed, loop.candidate);
    const double most_copying_s = loop.measured_s - rates.latency_s * turns_in(schedule);
    if (most_copying_s > 0) raise = std::max(raise, copying_time_s(schedule, rates, loop.candidate) / most_copying_s);
  }
  rates.pinned_in_both = std::min(raise * rates.pinned_in_both, std::max(rates.pinned_in, rates.pinned_in_both));
  rates.pinned_out_both = std::min(raise * rates.pinned_out_both, std::max(rates.pinned_out, rates.pinned_out_both));
  std::vector<StreamTurn> turns;
  for (const TurnsLoop& loop : loops) turns.push_back(turn_of(streamed, rates, loop.candidate, loop.measured_s));
  rates.turns = std::move(turns);
  return rates;
}

double least_before_copy(const CopyRates& rates) {
  double least_s = rates.latency_s;
  for (const StreamTurn& turn : rates.turns.value_or(std::vector<StreamTurn>{}))
    least_s = std::min(least_s, turn.submission == Submission::kBatched ? turn.turn_s / kMostBuffers : turn.turn_s);
  return least_s;
}

double before_copy(const CopyRates& rates, const Candidate& candidate) {
  if (!rates.turns || !is_pinned(candidate.memory)) return rates.latency_s;
  const auto known = std::find_if(rates.turns->begin(), rates.turns->end(), [&](const StreamTurn& turn) {
    return turn.use == candidate.use && turn.streams == candidate.streams && turn.submission == candidate.submission;
  });
  return known == rates.turns->end() ? rates.latency_s : known->turn_s;
}

}  // namespace pgtune::pipeline
