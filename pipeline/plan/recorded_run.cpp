// SPDX-License-Identifier: MIT
#include "pipeline/plan/recorded_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace pgtune::pipeline {
namespace {

/// The recorder aligns the clocks of host and GPU; records that are off by more than this share of the run do not
/// belong to it.
constexpr double kClocksDiffer = 0.1;

/// Records in the order of a lane: a stream, or all nodes of a graph.
using Records = std::vector<const Activity*>;

ActivityKind kind_of(Step step) {
  return step == Step::kCopyIn    ? ActivityKind::kCopyIn
         : step == Step::kCopyOut ? ActivityKind::kCopyOut
                                  : ActivityKind::kKernel;
}

std::string name_of(const Operation& operation) {
  const char* const step = operation.step == Step::kCopyIn    ? "copy in"
                           : operation.step == Step::kCompute ? "kernel"
                                                              : "copy out";
  return operation.chunk == kNoChunk ? fmt::format("the {} of a whole operand", step)
                                     : fmt::format("the {} of chunk {}", step, operation.chunk);
}

std::string name_of(const Activity& activity) {
  switch (activity.kind) {
    case ActivityKind::kKernel:
      return "kernel " + activity.name;
    case ActivityKind::kCopyIn:
      return fmt::format("a copy in of {} bytes", activity.bytes);
    case ActivityKind::kCopyOut:
      return fmt::format("a copy out of {} bytes", activity.bytes);
    case ActivityKind::kInside:
      break;
  }
  return fmt::format("a fill or copy inside the GPU of {} bytes", activity.bytes);
}

tl::unexpected<Error> mismatch(std::string why) { return fail(ErrorKind::kInternal, std::move(why)); }

class Matching {
 public:
  Matching(const Schedule& schedule, const RecordedRun& run) : schedule_(schedule), run_(run) {
    timeline_.spans.resize(schedule.operations.size());
    timeline_.total_s = seconds(run.end_ns);
  }

  Result<Timeline> match() {
    for (const auto& [lane, calls] : calls_of_lanes()) {
      Records records = records_of(lane);
      TRY(match_lane(calls, records));
    }
    TRY(require_order());
    TRY(require_clock());
    timeline_.source = TimelineSource::kRecords;
    return std::move(timeline_);
  }

 private:
  [[nodiscard]] double seconds(std::int64_t time_ns) const {
    return 1e-9 * static_cast<double>(time_ns - run_.begin_ns);
  }
  [[nodiscard]] std::uint64_t call_of(const Activity& activity) const {
    return run_.as_graph ? activity.graph_node : activity.call;
  }

  /// The first operations of calls, by the recorder's number of their stream; of a graph all at 0.
  [[nodiscard]] std::map<std::uint32_t, std::vector<std::size_t>> calls_of_lanes() const {
    std::map<std::uint32_t, std::vector<std::size_t>> lanes;
    for (std::size_t first = 0; first < schedule_.operations.size(); first = end_of_call(schedule_, first)) {
      const int stream = schedule_.operations[first].stream;
      const std::uint32_t lane = run_.as_graph             ? 0
                                 : stream == kLegacyStream ? legacy_stream()
                                                           : run_.streams.at(static_cast<std::size_t>(stream));
      lanes[lane].push_back(first);
    }
    return lanes;
  }

  [[nodiscard]] bool is_before(const Activity& activity) const {
    return activity.end_ns != 0 && activity.end_ns < run_.begin_ns;
  }

  /// The first stream of a record that is none of the numbered ones; 0, which no stream has, if there is none. Records
  /// of a second such stream are ignored, so the first one may lack records.
  [[nodiscard]] std::uint32_t legacy_stream() const {
    const auto found = std::find_if(run_.activities.begin(), run_.activities.end(), [this](const Activity& activity) {
      return activity.graph_node == 0 && !is_before(activity) &&
             std::find(run_.streams.begin(), run_.streams.end(), activity.stream) == run_.streams.end();
    });
    return found != run_.activities.end() ? found->stream : 0;
  }

  [[nodiscard]] Records records_of(std::uint32_t lane) const {
    Records records;
    for (const Activity& activity : run_.activities) {
      const bool of_lane =
          run_.as_graph ? activity.graph_node != 0 : activity.graph_node == 0 && activity.stream == lane;
      if (of_lane && !is_before(activity)) records.push_back(&activity);
    }
    std::stable_sort(records.begin(), records.end(), [this](const Activity* a, const Activity* b) {
      return std::make_pair(call_of(*a), a->start_ns) < std::make_pair(call_of(*b), b->start_ns);
    });
    return records;
  }

  Result<void> match_lane(const std::vector<std::size_t>& calls, const Records& records) {
    std::size_t next = 0;
    for (const std::size_t first : calls) {
      const bool product = schedule_.operations[first].step == Step::kCompute;
      auto matched = product ? match_product(first, records, next) : match_copies(first, records, next);
      if (!matched) return matched;
    }
    if (next == records.size()) return {};
    return mismatch(
        fmt::format("{} records are left over, first that of {}", records.size() - next, name_of(*records[next])));
  }

  /// Takes the record at `next`, which must fit the operation.
  Result<const Activity*> take(const Operation& operation, const Records& records, std::size_t& next) const {
    if (next == records.size()) return mismatch(fmt::format("there is no record of {}", name_of(operation)));
    const Activity& activity = *records[next];
    const bool copied = activity.kind == ActivityKind::kCopyIn || activity.kind == ActivityKind::kCopyOut;
    if (operation.step == Step::kCompute ? copied : activity.kind != kind_of(operation.step))
      return mismatch(
          fmt::format("the record of {} is where that of {} should be", name_of(activity), name_of(operation)));
    if (activity.start_ns == 0 || activity.end_ns < activity.start_ns)
      return mismatch(fmt::format("the record of {} has no times", name_of(operation)));
    ++next;
    return &activity;
  }

  Result<void> match_product(std::size_t index, const Records& records, std::size_t& next) {
    const Operation& operation = schedule_.operations[index];
    const int pieces = run_.pieces.at(static_cast<std::size_t>(operation.chunk));
    if (pieces < 1) return mismatch(fmt::format("{} consists of nothing that has a record", name_of(operation)));
    Records own;
    for (int piece = 0; piece < pieces; ++piece) {
      TRY_ASSIGN(const auto taken, take(operation, records, next));
      own.push_back(taken);
    }
    set_span(index, own);
    return {};
  }

  /// All records of the next one's call: copies that the driver may have split or merged.
  Result<void> match_copies(std::size_t first, const Records& records, std::size_t& next) {
    const std::size_t end = end_of_call(schedule_, first);
    const Operation& operation = schedule_.operations[first];
    std::int64_t wanted = 0, bytes = 0;
    for (std::size_t i = first; i < end; ++i) wanted += schedule_.operations[i].bytes;
    Records of_call;
    do {
      TRY_ASSIGN(const auto taken, take(operation, records, next));
      of_call.push_back(taken);
      bytes += of_call.back()->bytes;
    } while (next < records.size() && call_of(*records[next]) == call_of(*of_call.front()));
    if (bytes != wanted)
      return mismatch(fmt::format("{} has records of {} bytes and copies {}", name_of(operation), bytes, wanted));
    if (tell_apart(first, end, of_call)) return {};
    for (std::size_t i = first; i < end; ++i) set_span(i, of_call);
    share_time(schedule_, first, end, timeline_.spans);
    return {};
  }

  /// Whether each of a call's copies has a record of its own.
  bool tell_apart(std::size_t first, std::size_t end, Records of_call) {
    if (of_call.size() != end - first) return false;
    Records chosen;
    for (std::size_t i = first; i < end; ++i) {
      const auto own = std::find_if(of_call.begin(), of_call.end(), [&](const Activity* activity) {
        return activity->bytes == schedule_.operations[i].bytes;
      });
      if (own == of_call.end()) return false;
      chosen.push_back(*own);
      of_call.erase(own);
    }
    for (std::size_t i = first; i < end; ++i) set_span(i, {chosen[i - first]});
    return true;
  }

  /// From the start of the first of its records to the end of the last.
  void set_span(std::size_t index, const Records& own) {
    std::int64_t start_ns = own.front()->start_ns, end_ns = own.front()->end_ns;
    for (const Activity* activity : own) {
      start_ns = std::min(start_ns, activity->start_ns);
      end_ns = std::max(end_ns, activity->end_ns);
    }
    const Operation& operation = schedule_.operations[index];
    timeline_.spans[index] = {static_cast<int>(index), operation.step, operation.chunk, seconds(start_ns),
                              seconds(end_ns)};
  }

  /// An operation that began before its dependencies were half done has another one's record.
  [[nodiscard]] Result<void> require_order() const {
    for (const Span& span : timeline_.spans) {
      const Operation& operation = schedule_.operations[static_cast<std::size_t>(span.operation)];
      for (const int need : operation.needs) {
        const Span& needed = timeline_.spans[static_cast<std::size_t>(need)];
        if (span.start_s >= 0.5 * (needed.start_s + needed.end_s)) continue;
        return mismatch(fmt::format("by its record {} began before {}, which it needs", name_of(operation),
                                    name_of(schedule_.operations[static_cast<std::size_t>(need)])));
      }
    }
    return {};
  }

  /// Records within the run, within the clocks' difference.
  [[nodiscard]] Result<void> require_clock() {
    double first_s = 0, last_s = timeline_.total_s;
    for (const Span& span : timeline_.spans) {
      first_s = std::min(first_s, span.start_s);
      last_s = std::max(last_s, span.end_s);
    }
    const double allowed_s = kClocksDiffer * timeline_.total_s;
    if (first_s < -allowed_s || last_s - timeline_.total_s > allowed_s)
      return mismatch(fmt::format("records from {:.3f} to {:.3f} ms are none of a run of {:.3f} ms", 1e3 * first_s,
                                  1e3 * last_s, 1e3 * timeline_.total_s));
    for (Span& span : timeline_.spans) {
      span.start_s -= first_s;
      span.end_s -= first_s;
    }
    timeline_.total_s = last_s - first_s;
    return {};
  }

  const Schedule& schedule_;
  const RecordedRun& run_;
  Timeline timeline_;
};

}  // namespace

Result<Timeline> timeline_of_records(const Schedule& schedule, const RecordedRun& run) {
  return Matching(schedule, run).match();
}

}  // namespace pgtune::pipeline
