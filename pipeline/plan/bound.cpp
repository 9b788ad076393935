// SPDX-License-Identifier: MIT
#include "pipeline/plan/bound.hpp"

#include <algorithm>
#include <limits>

#include "pipeline/plan/stream_turns.hpp"

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

/// The least time for both directions where they slow each other down: as much as possible copied both ways at once.
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

}  // namespace pgtune::pipeline
