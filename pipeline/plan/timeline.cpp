// SPDX-License-Identifier: MIT
#include "pipeline/plan/timeline.hpp"

#include <algorithm>
#include <array>

#include "tuner/model/records.hpp"

namespace pgtune::pipeline {
namespace {

constexpr EnumNames<GapCause, 8> kCauses{{{GapCause::kFill, "fill"},
                                          {GapCause::kDrain, "drain"},
                                          {GapCause::kCopyIn, "copy in"},
                                          {GapCause::kCompute, "compute"},
                                          {GapCause::kBuffer, "buffer"},
                                          {GapCause::kBus, "bus"},
                                          {GapCause::kFalseDependency, "false dependency"},
                                          {GapCause::kHost, "host"}}};
constexpr EnumNames<TimelineSource, 2> kSources{
    {{TimelineSource::kEvents, "events"}, {TimelineSource::kRecords, "cupti"}}};
constexpr std::array kWorkerSteps{Step::kCopyIn, Step::kCompute, Step::kCopyOut};

std::vector<Span> of_worker(const Timeline& timeline, Step step) {
  std::vector<Span> spans;
  std::copy_if(timeline.spans.begin(), timeline.spans.end(), std::back_inserter(spans),
               [&](const Span& span) { return span.step == step; });
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.start_s < b.start_s; });
  return spans;
}

/// The worker of the other direction was busy for most of the time.
bool other_direction_busy(const Timeline& timeline, Step step, double from_s, double to_s) {
  const Step other = step == Step::kCopyIn ? Step::kCopyOut : Step::kCopyIn;
  double busy_s = 0;
  for (const Span& span : timeline.spans) {
    if (span.step == other) busy_s += std::max(0.0, std::min(span.end_s, to_s) - std::max(span.start_s, from_s));
  }
  return busy_s > 0.5 * (to_s - from_s);
}

GapCause cause_of(const Schedule& schedule, const Timeline& timeline, const Span& next, double from_s) {
  const auto& operations = schedule.operations;
  const Operation& operation = operations[static_cast<std::size_t>(next.operation)];
  const double gap_s = next.start_s - from_s;
  // The last dependency to end explains the gap, if it ended after the gap's first tenth.
  int last = -1;
  double needed_s = from_s + 0.1 * gap_s;
  for (const int need : operation.needs) {
    if (const double end_s = timeline.spans[static_cast<std::size_t>(need)].end_s; end_s >= needed_s) {
      needed_s = end_s;
      last = need;
    }
  }
  if (last >= 0 && next.start_s - needed_s <= 0.5 * gap_s) {
    const Operation& needed = operations[static_cast<std::size_t>(last)];
    if (needed.step == Step::kCopyOut || operation.step == Step::kCopyIn) return GapCause::kBuffer;
    return needed.step == Step::kCopyIn ? GapCause::kCopyIn : GapCause::kCompute;
  }
  if (operation.step != Step::kCompute && other_direction_busy(timeline, operation.step, from_s, next.start_s))
    return GapCause::kBus;
  // An operation that it does not need, in the same stream or tied by the default stream.
  for (int other = next.operation - 1; other >= 0; --other) {
    const Operation& before = operations[static_cast<std::size_t>(other)];
    const bool tied =
        before.stream == operation.stream || before.stream == kLegacyStream || operation.stream == kLegacyStream;
    const double end_s = timeline.spans[static_cast<std::size_t>(other)].end_s;
    if (tied && end_s > from_s + 0.1 * gap_s && end_s <= next.start_s + 0.1 * gap_s) return GapCause::kFalseDependency;
  }
  return GapCause::kHost;
}

}  // namespace

EnumTable<GapCause> enum_table(GapCause /*cause*/) { return kCauses; }
EnumTable<TimelineSource> enum_table(TimelineSource /*source*/) { return kSources; }

std::string source_text(TimelineSource source) {
  return source == TimelineSource::kRecords ? "CUPTI's activity records" : "events around each operation";
}

std::string source_text(const Timeline& timeline) {
  std::string text = source_text(timeline.source);
  if (timeline.as_loop) text += ", of the graph's operations as a loop";
  if (timeline.reason) text += ": " + *timeline.reason;
  return text;
}

void share_time(const Schedule& schedule, std::size_t first, std::size_t end, std::vector<Span>& spans) {
  double bytes = 0, done = 0;
  for (std::size_t i = first; i < end; ++i) bytes += static_cast<double>(schedule.operations[i].bytes);
  const double start_s = spans[first].start_s, call_s = spans[end - 1].end_s - start_s;
  if (end - first < 2 || bytes <= 0) return;
  for (std::size_t i = first; i < end; ++i) {
    spans[i].start_s = start_s + call_s * done / bytes;
    done += static_cast<double>(schedule.operations[i].bytes);
    spans[i].end_s = start_s + call_s * done / bytes;
  }
}

bool is_of(const Schedule& schedule, const Timeline& timeline) {
  if (!is_sample_time(timeline.total_s) || timeline.spans.size() != schedule.operations.size()) return false;
  for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
    const Span& span = timeline.spans[i];
    const Operation& operation = schedule.operations[i];
    if (span.operation != static_cast<int>(i) || span.step != operation.step || span.chunk != operation.chunk)
      return false;
    if (span.start_s < 0 || span.end_s < span.start_s || !is_sample_time(1 + span.end_s)) return false;
  }
  return true;
}

Timeline timeline_of_marks(const Schedule& schedule, const std::vector<Marks>& marks, double total_s) {
  Timeline timeline;
  timeline.total_s = total_s;
  std::vector<std::size_t> order(marks.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return marks[a].after_s != marks[b].after_s ? marks[a].after_s < marks[b].after_s : a < b;
  });
  timeline.spans.resize(marks.size());
  std::array<double, kWorkerSteps.size()> free_s{};
  for (const std::size_t i : order) {
    const Operation& operation = schedule.operations[i];
    double& worker_s = free_s.at(static_cast<std::size_t>(operation.step));
    double start_s = std::max(marks[i].before_s, worker_s);
    for (const int need : operation.needs) start_s = std::max(start_s, marks[static_cast<std::size_t>(need)].after_s);
    start_s = std::min(start_s, marks[i].after_s);
    timeline.spans[i] = {static_cast<int>(i), operation.step, operation.chunk, start_s, marks[i].after_s};
    worker_s = std::max(worker_s, marks[i].after_s);
  }
  for (std::size_t first = 0, end = 0; first < marks.size(); first = end) {
    end = end_of_call(schedule, first);
    share_time(schedule, first, end, timeline.spans);
  }
  return timeline;
}

std::vector<Gap> gaps_of(const Schedule& schedule, const Timeline& timeline, double least_s) {
  std::vector<Gap> gaps;
  for (const Step step : kWorkerSteps) {
    const std::vector<Span> spans = of_worker(timeline, step);
    if (spans.empty()) continue;
    const auto add = [&](double from_s, double to_s, GapCause cause) {
      if (to_s - from_s > least_s) gaps.push_back({step, from_s, to_s, cause});
    };
    add(0, spans.front().start_s, GapCause::kFill);
    double busy_until_s = spans.front().end_s;
    for (std::size_t i = 1; i < spans.size(); ++i) {
      if (spans[i].start_s - busy_until_s > least_s)
        add(busy_until_s, spans[i].start_s, cause_of(schedule, timeline, spans[i], busy_until_s));
      busy_until_s = std::max(busy_until_s, spans[i].end_s);
    }
    add(busy_until_s, timeline.total_s, GapCause::kDrain);
  }
  return gaps;
}

}  // namespace pgtune::pipeline
