// SPDX-License-Identifier: MIT
// The busy times of a pipeline's workers, and the causes of idle times.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/plan/schedule.hpp"

namespace pgtune::pipeline {

/// An operation's time at its worker.
struct Span {
  int operation = 0;  ///< of the schedule
  Step step = Step::kCopyIn;
  int chunk = kNoChunk;
  double start_s = 0, end_s = 0;

  PGTUNE_FIELDS(operation, step, chunk, start_s, end_s)
  friend bool operator==(const Span&, const Span&) = default;
};

/// The source of a timeline's times.
enum class TimelineSource {
  kEvents,   ///< events between operations, which tell when a stream reached a point
  kRecords,  ///< CUPTI's activity records, which tell when an operation began and ended on the GPU
};
/// "events", "cupti".
[[nodiscard]] EnumTable<TimelineSource> enum_table(TimelineSource source);

struct Timeline {
  std::vector<Span> spans;  ///< one per operation, in the order of issue
  double total_s = 0;       ///< until the host has all results
  TimelineSource source = TimelineSource::kEvents;
  bool as_loop = false;                    ///< for a graph: the loop that it was captured from ran instead
  std::optional<std::string> reason = {};  ///< why there are no records, or none of the graph

  PGTUNE_FIELDS(spans, total_s, source, (as_loop, kUnlessDefault), reason)
  friend bool operator==(const Timeline&, const Timeline&) = default;
};

/// Whether it can be a run of the schedule: a span for each operation, at possible times. A timeline from a file may be
/// impossible.
[[nodiscard]] bool is_of(const Schedule& schedule, const Timeline& timeline);

/// For display: "CUPTI's activity records", "events around each operation".
[[nodiscard]] std::string source_text(TimelineSource source);
/// The same with the reason, if any: "events around each operation: REASON".
[[nodiscard]] std::string source_text(const Timeline& timeline);

/// Splits the time from the first copy's beginning to the last one's end among a call's copies, `first` to before
/// `end`, by bytes.
void share_time(const Schedule& schedule, std::size_t first, std::size_t end, std::vector<Span>& spans);

/// A timeline from events, which tell when an operation and the work before it in its stream ended. A worker does one
/// thing at a time, so an operation begins after its worker's previous one has ended. Copies of one call share its time
/// by bytes, as no event separates them.
struct Marks {
  double before_s = 0, after_s = 0;
};
[[nodiscard]] Timeline timeline_of_marks(const Schedule& schedule, const std::vector<Marks>& marks, double total_s);

enum class GapCause {
  kFill,             ///< before the worker's first operation
  kDrain,            ///< after its last
  kCopyIn,           ///< the next kernel's operands are still on their way
  kCompute,          ///< the next copy's chunk is still being computed
  kBuffer,           ///< the next chunk's buffer is still in use
  kBus,              ///< the other direction copies
  kFalseDependency,  ///< its dependencies are done, but an unneeded operation is before it in its stream
  kHost,             ///< everything is ready, but the host's call is late
};
/// "fill", "drain", "copy in", "compute", "buffer", "bus", "false dependency", "host".
[[nodiscard]] EnumTable<GapCause> enum_table(GapCause cause);

struct Gap {
  Step worker = Step::kCopyIn;
  double start_s = 0, end_s = 0;
  GapCause cause = GapCause::kFill;

  PGTUNE_FIELDS(worker, start_s, end_s, cause)
  friend bool operator==(const Gap&, const Gap&) = default;
};

/// Gaps longer than `least_s`, worker by worker in the order of time.
[[nodiscard]] std::vector<Gap> gaps_of(const Schedule& schedule, const Timeline& timeline, double least_s);

}  // namespace pgtune::pipeline
