// SPDX-License-Identifier: MIT
#include "tool/pgtune/page/pipeline_data.hpp"

#include <nlohmann/json.hpp>

#include "tool/pgtune/page/compact.hpp"
#include "tuner/model/device_class.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

/// Shorter gaps are noise of the events.
constexpr double kLeastDrawnGap = 1e-3;

json microseconds(double time_s) { return compact(1e6 * time_s); }

json time_of(const session::MeasuredPipeline& measured) {
  return measured.samples > 0 && measured.outcome.kind == OutcomeKind::kOk ? microseconds(measured.time_s) : json();
}

json ladder_data(const session::PipelineAnswer& answer) {
  json rows = json::array();
  const auto add = [&](const std::string& name, const session::MeasuredPipeline& measured) {
    const bool tried = measured.samples > 0 || measured.outcome.kind != OutcomeKind::kOk;
    if (tried) rows.push_back({name, time_of(measured), microseconds(measured.expected_s), measured.candidate.text()});
  };
  for (const bool trap : {false, true}) {
    for (const session::MeasuredRung& rung : answer.ladder) {
      if (rung.trap == trap) add(rung.name, rung.measured);
    }
    if (trap) continue;
    add("first guess", answer.guess);
    add("tuned", answer.best);
  }
  return rows;
}

}  // namespace

json pipelines_data(const std::vector<StoredPipeline>& pipelines, std::size_t most_timelines) {
  json out = json::array();
  for (const StoredPipeline& stored : pipelines) {
    const session::PipelineAnswer& answer = stored.answer;
    json spans = json::array(), gaps = json::array();
    if (answer.timeline && out.size() < most_timelines) {
      for (const pipeline::Span& span : answer.timeline->spans)
        spans.push_back(
            {static_cast<int>(span.step), span.chunk, microseconds(span.start_s), microseconds(span.end_s)});
      const pipeline::Schedule schedule = make_schedule(answer.streamed, answer.best.candidate);
      for (const pipeline::Gap& gap : gaps_of(schedule, *answer.timeline, kLeastDrawnGap * answer.timeline->total_s))
        gaps.push_back(
            {static_cast<int>(gap.worker), microseconds(gap.start_s), microseconds(gap.end_s), to_string(gap.cause)});
    }
    const session::TimeRatio& serial = answer.serial_to_best;
    out.push_back(
        {{"title", answer.streamed.title()},
         {"device", device_class(stored.device).text()},
         {"best", answer.best.candidate.text()},
         {"us", microseconds(answer.best.time_s)},
         {"bound_us", microseconds(answer.bound.total_s)},
         {"limiter", to_string(answer.bound.limiter)},
         {"serial", serial.pairs > 0 ? json{compact(serial.ratio), compact(serial.low), compact(serial.high)} : json()},
         {"complete", answer.complete},
         {"finished_at", stored.finished_at},
         {"ladder", ladder_data(answer)},
         {"total_us", answer.timeline ? microseconds(answer.timeline->total_s) : json(0)},
         {"times", answer.timeline ? source_text(*answer.timeline) : ""},
         {"spans", std::move(spans)},
         {"gaps", std::move(gaps)}});
  }
  return out;
}

}  // namespace pgtune::tool
