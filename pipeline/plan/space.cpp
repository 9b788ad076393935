// SPDX-License-Identifier: MIT
#include "pipeline/plan/space.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

#include "pipeline/plan/chunk_plan.hpp"

namespace pgtune::pipeline {
namespace {

constexpr EnumNames<Limiter, 4> kLimiters{{{Limiter::kCopyIn, "copy in"},
                                           {Limiter::kCompute, "compute"},
                                           {Limiter::kCopyOut, "copy out"},
                                           {Limiter::kBus, "bus"}}};

double duration(const Machine& machine, Cut cut, const Schedule& schedule, const Operation& operation) {
  switch (operation.step) {
    case Step::kCompute:
      return machine.slowdown *
             compute_time(machine.compute, cut, schedule.chunks[static_cast<std::size_t>(operation.chunk)].extent);
    case Step::kCopyIn:
      return least_before_copy(machine.rates) + static_cast<double>(operation.bytes) / machine.rates.pinned_in;
    case Step::kCopyOut:
      break;
  }
  return least_before_copy(machine.rates) + static_cast<double>(operation.bytes) / machine.rates.pinned_out;
}

/// The least time for both directions if they slow each other down: as much as possible is copied both ways at once.
double bus_time(const CopyRates& rates, double bytes_in, double bytes_out) {
  if (rates.pinned_in_both <= 0 || rates.pinned_out_both <= 0) return 0;
  const double both_s = std::min(bytes_in / rates.pinned_in_both, bytes_out / rates.pinned_out_both);
  return both_s + (bytes_in - rates.pinned_in_both * both_s) / rates.pinned_in +
         (bytes_out - rates.pinned_out_both * both_s) / rates.pinned_out;
}

}  // namespace

EnumTable<Limiter> enum_table(Limiter /*limiter*/) { return kLimiters; }

Bound bound_of(const StreamedProblem& streamed, const Machine& machine, Cut cut, std::int64_t extent) {
  Candidate free_of_limits;
  free_of_limits.cut = cut;
  free_of_limits.chunk = extent;
  free_of_limits.use = StreamUse::kLanes;
  free_of_limits.buffers = static_cast<int>(chunks_of(streamed.problem, cut, extent).size());
  const Schedule schedule = make_schedule(streamed, free_of_limits);
  const std::size_t count = schedule.operations.size();
  std::vector<double> seconds(count), begin(count), after(count);
  for (std::size_t i = 0; i < count; ++i) {
    seconds[i] = duration(machine, cut, schedule, schedule.operations[i]);
    for (const int need : schedule.operations[i].needs)
      begin[i] = std::max(begin[i], begin[static_cast<std::size_t>(need)] + seconds[static_cast<std::size_t>(need)]);
  }
  for (std::size_t i = count; i-- > 0;) {
    for (const int need : schedule.operations[i].needs) {
      double& rest = after[static_cast<std::size_t>(need)];
      rest = std::max(rest, after[i] + seconds[i]);
    }
  }
  Bound bound;
  for (const Step step : {Step::kCopyIn, Step::kCompute, Step::kCopyOut}) {
    Bound worker{.limiter = static_cast<Limiter>(step),
                 .fill_s = std::numeric_limits<double>::infinity(),
                 .drain_s = std::numeric_limits<double>::infinity()};
    for (std::size_t i = 0; i < count; ++i) {
      if (schedule.operations[i].step != step) continue;
      worker.work_s += seconds[i];
      worker.fill_s = std::min(worker.fill_s, begin[i]);
      worker.drain_s = std::min(worker.drain_s, after[i]);
    }
    if (worker.work_s <= 0) continue;
    worker.total_s = worker.fill_s + worker.work_s + worker.drain_s;
    if (worker.total_s > bound.total_s) bound = worker;
  }
  const double bus_s =
      bus_time(machine.rates, static_cast<double>(streamed.bytes_in()), static_cast<double>(streamed.bytes_out()));
  if (bus_s > bound.total_s) bound = {bus_s, Limiter::kBus, bus_s, 0, 0};
  return bound;
}

namespace {

constexpr std::array kStreamCounts{1, 2, 3, 4, 8};
constexpr std::array kLaneBuffers{2, 3, 4, 8};
constexpr std::array kTriedSubmissions{Submission::kLoop, Submission::kGraph, Submission::kBatched};
constexpr std::array kTriedOrders{IssueOrder::kDepthFirst, IssueOrder::kBreadthFirst};
constexpr std::array kTriedMemories{HostMemory::kPinned, HostMemory::kRegistered, HostMemory::kWriteCombined,
                                    HostMemory::kStaged, HostMemory::kPageable};

/// Collects legal candidates, each once, and the reasons against the others.
class Collector {
 public:
  Collector(const StreamedProblem& streamed, const SpaceLimits& limits) : streamed_(streamed), limits_(limits) {}

  void add(const Candidate& candidate) {
    if (limits_.cut && candidate.cut != *limits_.cut) return;
    if (limits_.memory && candidate.memory != *limits_.memory) return;
    std::string why = why_illegal(streamed_, candidate, limits_.limits);
    if (why.empty()) {
      if (std::find(space.candidates.begin(), space.candidates.end(), candidate) == space.candidates.end())
        space.candidates.push_back(candidate);
    } else if (std::find(space.reasons.begin(), space.reasons.end(), why) == space.reasons.end()) {
      space.reasons.push_back(std::move(why));
    }
  }

  /// Uses of streams, buffers and orders for a cut, chunk, memory and submission.
  void add_uses(Candidate base) {
    base.use = StreamUse::kPerChunk;
    for (const int streams : kStreamCounts) {
      for (const int buffers : {streams, 2 * streams}) {
        for (const IssueOrder order : kTriedOrders) {
          Candidate candidate = base;
          candidate.streams = streams;
          candidate.buffers = buffers;
          candidate.order = order;
          add(candidate);
        }
      }
    }
    for (const StreamUse use : {StreamUse::kLanes, StreamUse::kOneCopyLane}) {
      for (const int buffers : kLaneBuffers) {
        Candidate candidate = base;
        candidate.use = use;
        candidate.buffers = buffers;
        add(candidate);
        if (base.submission != Submission::kBatched || use != StreamUse::kLanes) continue;
        candidate.order = IssueOrder::kBreadthFirst;
        add(candidate);
      }
    }
  }

  Space space;

 private:
  const StreamedProblem& streamed_;
  const SpaceLimits& limits_;
};

/// With that memory: without a node, and on each of the nodes.
std::vector<Candidate> with_memory(Candidate candidate, HostMemory memory, const SpaceLimits& limits) {
  candidate.memory = memory;
  candidate.host_node.reset();
  std::vector<Candidate> placed{candidate};
  if (memory != HostMemory::kRegistered || limits.host_nodes.size() < 2) return placed;
  for (const int node : limits.host_nodes) {
    candidate.host_node = node;
    placed.push_back(candidate);
  }
  return placed;
}

/// The same with another submission. Lanes get groups for batched copies, and no order otherwise.
Candidate submitted(Candidate candidate, Submission submission) {
  candidate.submission = submission;
  if (candidate.use != StreamUse::kLanes) return candidate;
  const bool batched = submission == Submission::kBatched;
  candidate.order = batched ? IssueOrder::kBreadthFirst : IssueOrder::kDepthFirst;
  if (batched) candidate.buffers = std::max(4, candidate.buffers / 2 * 2);
  return candidate;
}

/// As close to `wanted` as the chunks allow.
Candidate fitted(const StreamedProblem& streamed, Candidate wanted) {
  const auto chunks = static_cast<int>(chunks_of(streamed.problem, wanted.cut, wanted.chunk).size());
  wanted.streams = std::min(wanted.streams, chunks);
  wanted.buffers = std::clamp(wanted.buffers, wanted.streams, std::min(chunks, kMostBuffers));
  if (wanted.use == StreamUse::kLanes && wanted.group() > 1) {
    wanted.buffers = wanted.buffers / 2 * 2;
  } else if (wanted.streams < 2) {
    wanted.order = IssueOrder::kDepthFirst;
  }
  return wanted;
}

/// One kernel over the whole product.
Candidate zero_copy(const StreamedProblem& streamed, Cut cut) {
  Candidate candidate;
  candidate.cut = cut;
  candidate.chunk = extent_of(streamed.problem, cut);
  candidate.memory = HostMemory::kMapped;
  return candidate;
}

/// Why no memory allows this cut; empty if some does.
std::string why_no_cut(const StreamedProblem& streamed, Cut cut) {
  Candidate probe;
  probe.cut = cut;
  probe.memory = HostMemory::kPageable;
  probe.chunk = chunk_extents(streamed.problem, cut).front();
  return why_illegal(streamed, probe, {INT64_MAX, INT64_MAX});
}

}  // namespace

std::vector<Cut> cuts_of(const StreamedProblem& streamed, const SpaceLimits& limits) {
  std::vector<Cut> cuts;
  for (const Cut cut : {Cut::kM, Cut::kN, Cut::kK}) {
    if (limits.cut && cut != *limits.cut) continue;
    if (why_no_cut(streamed, cut).empty()) cuts.push_back(cut);
  }
  const auto leaves_one_whole = [&](Cut cut) {
    return std::any_of(std::begin(kMatrices), std::end(kMatrices),
                       [&](Matrix matrix) { return streamed.streams(matrix) && !divides(cut, matrix); });
  };
  if (!std::all_of(cuts.begin(), cuts.end(), leaves_one_whole)) std::erase_if(cuts, leaves_one_whole);
  return cuts;
}

Space enumerate(const StreamedProblem& streamed, const SpaceLimits& limits) {
  Collector collector(streamed, limits);
  const std::vector<Cut> cuts = cuts_of(streamed, limits);
  for (const Cut cut : {Cut::kM, Cut::kN, Cut::kK}) {
    if (cuts.empty() && limits.cut.value_or(cut) == cut) collector.space.reasons.push_back(why_no_cut(streamed, cut));
  }
  if (limits.memory == HostMemory::kMapped && !cuts.empty()) collector.add(zero_copy(streamed, cuts.front()));
  for (const Cut cut : cuts) {
    for (const std::int64_t chunk : chunk_extents(streamed.problem, cut)) {
      for (const HostMemory memory : kTriedMemories) {
        for (const Submission submission : kTriedSubmissions) {
          Candidate base;
          base.cut = cut;
          base.chunk = chunk;
          base.submission = submission;
          for (const Candidate& placed : with_memory(base, memory, limits)) collector.add_uses(placed);
        }
      }
    }
  }
  return std::move(collector.space);
}

double expected_time(const StreamedProblem& streamed, const Machine& machine, const Candidate& candidate) {
  const double simulated_s = simulate(machine, candidate, make_schedule(streamed, candidate)).total_s;
  if (machine.slowdown <= 1 || candidate.memory == HostMemory::kMapped) return simulated_s;
  return std::max(simulated_s, bound_of(streamed, machine, candidate.cut, candidate.chunk).total_s);
}

std::vector<Expected> expect(const StreamedProblem& streamed, const Machine& machine,
                             const std::vector<Candidate>& candidates) {
  std::vector<Expected> expected;
  expected.reserve(candidates.size());
  std::map<std::string, double> known;
  for (const Candidate& candidate : candidates) {
    // The model treats all pinned memory alike.
    Candidate alike = candidate;
    if (alike.memory == HostMemory::kRegistered || alike.memory == HostMemory::kWriteCombined)
      alike.memory = HostMemory::kPinned;
    alike.host_node.reset();
    const auto [place, fresh] = known.emplace(alike.key(), 0);
    if (fresh) place->second = expected_time(streamed, machine, alike);
    expected.push_back({candidate, place->second});
  }
  // In steps of a thousandth: the model is not more precise, and simpler candidates come first.
  const auto step = [](const Expected& e) { return std::llround(1000 * std::log(e.time_s)); };
  std::stable_sort(expected.begin(), expected.end(),
                   [&](const Expected& a, const Expected& b) { return step(a) < step(b); });
  return expected;
}

std::vector<Candidate> neighbours(const StreamedProblem& streamed, const Candidate& center, const SpaceLimits& limits) {
  Collector collector(streamed, limits);
  const auto add = [&](Candidate candidate) {
    if (candidate != center) collector.add(candidate);
  };
  const auto extents = chunk_extents(streamed.problem, center.cut);
  const auto at = std::lower_bound(extents.begin(), extents.end(), center.chunk) - extents.begin();
  for (const auto step : {-2, -1, 1, 2}) {
    if (at + step < 0 || at + step >= static_cast<std::ptrdiff_t>(extents.size())) continue;
    Candidate other = center;
    other.chunk = extents[static_cast<std::size_t>(at + step)];
    add(fitted(streamed, other));
  }
  // Two groups of chunks have as many buffers each.
  const int more = center.use == StreamUse::kLanes && center.group() > 1 ? 2 : 1;
  for (const int buffers : {center.buffers - more, center.buffers + more, 2 * center.buffers}) {
    Candidate other = center;
    other.buffers = buffers;
    add(other);
  }
  for (const HostMemory memory : kTriedMemories) {
    for (const Candidate& other : with_memory(center, memory, limits)) {
      add(other);
      // If the host must help, graphs and batches are impossible.
      add(submitted(other, Submission::kLoop));
    }
  }
  for (const Submission submission : kTriedSubmissions) {
    if (submission != center.submission) add(submitted(center, submission));
  }
  // Other uses of streams rarely have two copies for a batch.
  const Candidate unbatched = center.submission == Submission::kBatched ? submitted(center, Submission::kLoop) : center;
  Candidate shared = unbatched;
  shared.use = StreamUse::kPerChunk;
  for (const int streams : {2, 3, 4, 8}) {
    shared.streams = streams;
    shared.buffers = std::max(center.buffers, streams);
    for (const IssueOrder order : kTriedOrders) {
      shared.order = order;
      add(shared);
    }
  }
  for (const StreamUse use : {StreamUse::kLanes, StreamUse::kOneCopyLane}) {
    Candidate other = unbatched;
    other.use = use;
    other.streams = 1;
    other.order = IssueOrder::kDepthFirst;
    add(other);
  }
  return std::move(collector.space.candidates);
}

std::vector<Rung> ladder(const StreamedProblem& streamed, const Candidate& guess, const Limits& limits) {
  std::vector<Rung> rungs;
  const auto add = [&](const char* name, Candidate candidate, bool trap = false) {
    if (candidate.submission != Submission::kBlocking && candidate.memory != HostMemory::kMapped)
      candidate = fitted(streamed, candidate);
    const bool known = std::any_of(rungs.begin(), rungs.end(), [&](const Rung& r) { return r.candidate == candidate; });
    if (!known && why_illegal(streamed, candidate, limits).empty()) rungs.push_back({name, candidate, trap});
  };
  Candidate base;
  base.cut = guess.cut;
  base.chunk = guess.chunk;
  const auto with = [&](HostMemory memory, int streams, Submission submission = Submission::kLoop,
                        IssueOrder order = IssueOrder::kDepthFirst) {
    Candidate candidate = base;
    candidate.memory = memory;
    candidate.streams = streams;
    candidate.buffers = streams;
    candidate.submission = submission;
    candidate.order = order;
    return candidate;
  };
  add("serial loop, pageable", with(HostMemory::kPageable, 1, Submission::kBlocking));
  add("asynchronous calls, pageable", with(HostMemory::kPageable, 2));
  add("serial loop, pinned", with(HostMemory::kPinned, 1, Submission::kBlocking));
  add("one stream, pinned", with(HostMemory::kPinned, 1));
  add("two streams", with(HostMemory::kPinned, 2));
  add("four streams", with(HostMemory::kPinned, 4));
  add("breadth-first order", with(HostMemory::kPinned, 4, Submission::kLoop, IssueOrder::kBreadthFirst));
  add("one graph", with(HostMemory::kPinned, 4, Submission::kGraph));
  Candidate trap = with(HostMemory::kPinned, 4);
  trap.use = StreamUse::kDefaultStream;
  add("trap: default stream", trap, true);
  Candidate staged = with(HostMemory::kStaged, 4);
  add("pageable through pinned ring", staged, true);
  add("zero-copy", zero_copy(streamed, guess.cut), true);
  return rungs;
}

SpaceBound least_bound(const StreamedProblem& streamed, const Machine& machine, const std::vector<Cut>& cuts) {
  SpaceBound least;
  for (const Cut cut : cuts) {
    for (const std::int64_t chunk : chunk_extents(streamed.problem, cut)) {
      const Bound bound = bound_of(streamed, machine, cut, chunk);
      if (least.chunk == 0 || bound.total_s < least.bound.total_s) least = {bound, cut, chunk};
    }
  }
  return least;
}

}  // namespace pgtune::pipeline
