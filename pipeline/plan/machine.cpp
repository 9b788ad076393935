// SPDX-License-Identifier: MIT
#include "pipeline/plan/machine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace pgtune::pipeline {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr int kNone = -1;
constexpr std::size_t kWorkers = 3;

/// Simulates the schedule event by event: a worker's rate depends on whether the other direction is copying.
class Simulation {
 public:
  Simulation(const Machine& machine, const Candidate& candidate, const Schedule& schedule)
      : machine_(machine), candidate_(candidate), schedule_(schedule), states_(schedule.operations.size()) {
    timeline_.spans.resize(states_.size());
    for (int index = 0; index < count(); ++index) queues_[worker_of(index)].push_back(index);
    find_predecessors();
  }

  Timeline run() {
    for (;;) {
      issue();
      start_ready();
      const double step_s = until_next_event();
      if (!std::isfinite(step_s)) break;
      advance(step_s);
    }
    for (const Span& span : timeline_.spans) timeline_.total_s = std::max(timeline_.total_s, span.end_s);
    timeline_.total_s = std::max(timeline_.total_s, drained_s_);
    return std::move(timeline_);
  }

 private:
  struct State {
    bool issued = false, done = false;
    std::vector<int> after;  ///< operations that must end before
    double wait_s = 0;       ///< remaining latency, or all remaining time of a kernel
    double bytes = 0;        ///< remaining
    double ready_s = 0;      ///< staged: when the ring buffer holds the data
  };

  [[nodiscard]] const Operation& operation(int index) const {
    return schedule_.operations[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] State& state(int index) { return states_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] const State& state(int index) const { return states_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] int count() const { return static_cast<int>(states_.size()); }
  [[nodiscard]] std::size_t worker_of(int index) const {
    const auto step = static_cast<std::size_t>(operation(index).step);
    return machine_.one_copy_engine && operation(index).step == Step::kCopyOut ? 0 : step;
  }

  /// Makes the host calls that are due.
  void issue() {
    while (next_ < count() && host_s_ <= now_) {
      if (blocked_on_ != kNone) {
        if (!state(blocked_on_).done) return;
        blocked_on_ = kNone;
        if (candidate_.submission == Submission::kBlocking) host_s_ = now_ + machine_.rates.wait_s.value_or(0);
        if (host_s_ > now_) return;
      }
      const Operation& next = operation(next_);
      const bool graph = candidate_.submission == Submission::kGraph;
      if (candidate_.memory == HostMemory::kStaged && next.step == Step::kCopyIn && !staging_) {
        // The ring's buffer is free once the copy from it has ended.
        if (const int old = last_from_ring(next_); old != kNone && !state(old).done) return;
        staging_ = true;
        host_s_ = now_ + static_cast<double>(next.bytes) / machine_.rates.host_copy;
        if (host_s_ > now_) return;
      }
      if (candidate_.memory == HostMemory::kStaged && next.step == Step::kCopyOut) {
        if (const int old = last_from_ring(next_); old != kNone && !(state(old).done && state(old).ready_s <= now_))
          return;
      }
      staging_ = false;
      begin_issued(next_);
      const bool waits = candidate_.submission == Submission::kBlocking ||
                         (candidate_.memory == HostMemory::kPageable && next.step != Step::kCompute);
      if (waits) blocked_on_ = next_;
      ++next_;
      // Copies of one call are issued with it.
      const bool goes_on = next_ < count() && operation(next_).merged;
      if (!graph && !goes_on) host_s_ = now_ + machine_.rates.issue_s;
    }
  }

  /// The last operation before `index` that used the same buffer of the ring.
  [[nodiscard]] int last_from_ring(int index) const {
    const Operation& wanted = operation(index);
    for (int i = index - 1; i >= 0; --i) {
      const Operation& other = operation(i);
      if (other.step == wanted.step && other.matrix == wanted.matrix && other.slot == wanted.slot &&
          other.chunk != kNoChunk && wanted.chunk != kNoChunk)
        return i;
    }
    return kNone;
  }

  void begin_issued(int index) {
    State& fresh = state(index);
    const Operation& op = operation(index);
    fresh.issued = true;
    if (op.step != Step::kCompute) {
      fresh.wait_s = op.merged ? 0 : before_copy_s_;
      fresh.bytes = static_cast<double>(op.bytes);
      return;
    }
    const std::int64_t extent = schedule_.chunks[static_cast<std::size_t>(op.chunk)].extent;
    // A kernel that reads and writes host memory does both at once.
    const CopyRates& rates = machine_.rates;
    const bool both = op.bytes > 0 && op.bytes_out > 0;
    fresh.wait_s = std::max({compute_time(machine_.compute, candidate_.cut, extent),
                             static_cast<double>(op.bytes) / (both ? rates.pinned_in_both : rates.pinned_in),
                             static_cast<double>(op.bytes_out) / (both ? rates.pinned_out_both : rates.pinned_out)});
  }

  /// The stream dependencies of an operation: the one before it in its stream, and the legacy default stream's
  /// barriers.
  void find_predecessors() {
    std::map<int, int> last;  // by stream
    for (int index = 0; index < count(); ++index) {
      State& current = state(index);
      current.after = operation(index).needs;
      for (const auto& [stream, before] : last) {
        if (stream == operation(index).stream || stream == kLegacyStream || operation(index).stream == kLegacyStream)
          current.after.push_back(before);
      }
      last[operation(index).stream] = index;
    }
  }

  [[nodiscard]] bool is_ready(int index) const {
    return std::all_of(state(index).after.begin(), state(index).after.end(),
                       [&](int before) { return state(before).done; });
  }

  void start_ready() {
    for (std::size_t worker = 0; worker < kWorkers; ++worker) {
      std::vector<int>& queue = queues_[worker];
      for (std::size_t place = 0; busy_[worker] == kNone && place < queue.size(); ++place) {
        const int index = queue[place];
        if (!state(index).issued) break;
        if (is_ready(index)) {
          busy_[worker] = index;
          timeline_.spans[static_cast<std::size_t>(index)] = {index, operation(index).step, operation(index).chunk,
                                                              now_, now_};
          queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(place));
        } else if (machine_.in_issue_order) {
          break;
        }
      }
    }
  }

  [[nodiscard]] double rate_of(int index) const {
    const CopyRates& rates = machine_.rates;
    const bool in = operation(index).step == Step::kCopyIn;
    const auto other = static_cast<std::size_t>(in ? Step::kCopyOut : Step::kCopyIn);
    const bool both = !machine_.one_copy_engine && busy_[other] != kNone && state(busy_[other]).wait_s <= 0;
    if (candidate_.memory == HostMemory::kPageable)
      return in ? (both ? rates.pageable_in_both : rates.pageable_in)
                : (both ? rates.pageable_out_both : rates.pageable_out);
    return in ? (both ? rates.pinned_in_both : rates.pinned_in) : (both ? rates.pinned_out_both : rates.pinned_out);
  }

  /// Seconds until the next change; infinity at the end. This is a duration and not a point in time, because a copy's
  /// remainder may be too short to change the time in floating point.
  [[nodiscard]] double until_next_event() const {
    double step_s = kNever;
    for (const int index : busy_) {
      if (index == kNone) continue;
      const State& current = state(index);
      step_s = std::min(step_s, current.wait_s > 0  ? current.wait_s
                                : current.bytes > 0 ? current.bytes / rate_of(index)
                                                    : 0);
    }
    if (next_ < count() && host_s_ > now_) step_s = std::min(step_s, host_s_ - now_);
    if (candidate_.memory == HostMemory::kStaged && next_ < count()) {
      for (int i = 0; i < next_; ++i) {
        if (state(i).done && state(i).ready_s > now_) step_s = std::min(step_s, state(i).ready_s - now_);
      }
    }
    return step_s;
  }

  void advance(double step_s) {
    std::array<double, kWorkers> copied{};
    for (std::size_t worker = 0; worker < kWorkers; ++worker) {
      const int index = busy_[worker];
      if (index != kNone && state(index).wait_s <= 0 && state(index).bytes > 0)
        copied[worker] = rate_of(index) * step_s;
    }
    now_ += step_s;
    for (std::size_t worker = 0; worker < kWorkers; ++worker) {
      const int index = busy_[worker];
      if (index == kNone) continue;
      State& current = state(index);
      if (current.wait_s > 0) {
        current.wait_s = current.wait_s - step_s < 1e-12 ? 0 : current.wait_s - step_s;
      } else {
        current.bytes = current.bytes - copied[worker] < 1e-3 ? 0 : current.bytes - copied[worker];
      }
      if (current.wait_s <= 0 && current.bytes <= 0) finish(worker);
    }
  }

  void finish(std::size_t worker) {
    const int index = busy_[worker];
    busy_[worker] = kNone;
    state(index).done = true;
    timeline_.spans[static_cast<std::size_t>(index)].end_s = now_;
    if (candidate_.memory == HostMemory::kStaged && operation(index).step == Step::kCopyOut) {
      drained_s_ = std::max(drained_s_, now_) + static_cast<double>(operation(index).bytes) / machine_.rates.host_copy;
      state(index).ready_s = drained_s_;
    }
  }

  const Machine& machine_;
  const Candidate& candidate_;
  const Schedule& schedule_;
  std::vector<State> states_;
  Timeline timeline_;
  std::array<std::vector<int>, kWorkers> queues_;  ///< operations that each worker has not begun, in the order of issue
  std::array<int, kWorkers> busy_{kNone, kNone, kNone};
  const double before_copy_s_ = before_copy(machine_.rates, candidate_);
  double now_ = 0, host_s_ = 0, drained_s_ = 0;
  int next_ = 0, blocked_on_ = kNone;
  bool staging_ = false;
};

}  // namespace

double compute_time(const ComputeTimes& times, Cut cut, std::int64_t extent) {
  const auto known = times.find(cut);
  if (known == times.end() || known->second.empty()) return 0;
  const auto& by_extent = known->second;
  const auto above = by_extent.lower_bound(extent);
  if (above != by_extent.end() && above->first == extent) return above->second;
  const auto in_proportion = [&](const auto& point) {
    return point.second * static_cast<double>(extent) / static_cast<double>(point.first);
  };
  if (above == by_extent.end()) return in_proportion(*by_extent.rbegin());
  // A chunk smaller than any known one takes at least its share of that one's time, and rarely much less than all of
  // it.
  if (above == by_extent.begin()) return in_proportion(*above);
  const auto below = std::prev(above);
  const double share = static_cast<double>(extent - below->first) / static_cast<double>(above->first - below->first);
  return below->second + share * (above->second - below->second);
}

Timeline simulate(const Machine& machine, const Candidate& candidate, const Schedule& schedule) {
  return Simulation(machine, candidate, schedule).run();
}

namespace {

constexpr std::int64_t kColumns = 512;

bool is_pinned(HostMemory memory) {
  return memory == HostMemory::kPinned || memory == HostMemory::kRegistered || memory == HostMemory::kWriteCombined;
}

/// For copies without turns.
double copying_time_s(const Schedule& schedule, const CopyRates& rates, const Candidate& candidate) {
  Machine without;
  without.rates = rates;
  without.rates.latency_s = without.rates.issue_s = 0;
  return simulate(without, candidate, schedule).total_s;
}

/// One copy fills the pipeline; after it the copies of the slower direction follow each other.
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
