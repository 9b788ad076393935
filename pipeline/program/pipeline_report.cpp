// SPDX-License-Identifier: MIT
// `pgtune report --pipelines`, one line per pipeline, and their section of the page.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "pgtune_pipeline_page.hpp"
#include "pipeline/program/pipeline_store.hpp"
#include "pipeline/program/room.hpp"
#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/page/page_data.hpp"
#include "tool/pgtune/recording/record_text.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/model/json.hpp"
#include "tuner/util/fields_json.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

/// In the page; each may have hundreds of spans.
constexpr std::size_t kMostTimelines = 24;

TextTable table_of_class() {
  return TextTable({{"problem"},
                    {"streaming"},
                    {"ms", Align::kRight},
                    {"of bound", Align::kRight},
                    {"x serial", Align::kRight},
                    {"pipeline", Align::kLeft, Wrap::kWords}});
}

void add_row(TextTable& table, const session::PipelineAnswer& answer) {
  table.add_row({answer.streamed.problem.title(), answer.streamed.stream_text(), milliseconds_text(answer.best.time_s),
                 fmt::format("{:.1f} %", 100 * answer.share_of_bound(answer.best)),
                 answer.serial_to_best.pairs > 0 ? fmt::format("{:.3f}", answer.serial_to_best.ratio) : "",
                 answer.best.candidate.text() + (answer.complete ? "" : " (not all rounds)")});
}

/// The newest of each problem, space and class of GPUs, smallest problem first. Throws as read_pipeline().
std::vector<StoredPipeline> stored_pipelines(const db::Database& database) {
  std::vector<StoredPipeline> pipelines;
  for (db::RecordedPipeline& row : db::list_pipelines(database))
    pipelines.push_back(read_pipeline(std::move(row), database.origin()));
  const auto order = [](const StoredPipeline& stored) {
    const pipeline::StreamedProblem& streamed = stored.answer.streamed;
    return std::make_tuple(device_class(stored.device).text(), streamed.problem.flops(), streamed.title(),
                           stored.searched);
  };
  std::stable_sort(pipelines.begin(), pipelines.end(),
                   [&](const auto& a, const auto& b) { return order(a) < order(b); });
  return pipelines;
}

/// In 80 columns, one table per class.
std::string pipeline_report_text(const std::vector<StoredPipeline>& pipelines) {
  std::map<std::string, TextTable> tables;
  for (const StoredPipeline& stored : pipelines)
    add_row(tables.try_emplace(device_class(stored.device).text(), table_of_class()).first->second, stored.answer);
  std::string text;
  for (const auto& [device, table] : tables) text += (text.empty() ? "" : "\n") + device + "\n" + table.text();
  return text;
}

/// One object per pipeline.
nlohmann::json pipeline_report_json(const std::vector<StoredPipeline>& pipelines) {
  nlohmann::json out = nlohmann::json::array();
  for (const StoredPipeline& stored : pipelines) {
    const session::PipelineAnswer& answer = stored.answer;
    out.push_back({{"problem", answer.streamed.problem},
                   {"stream", answer.streamed.stream_text()},
                   {"device_class", device_class(stored.device).text()},
                   {"measured_on", stored.device.uuid},
                   {"finished_at", stored.finished_at},
                   {"complete", answer.complete},
                   {"best", answer.best},
                   {"bound", answer.bound},
                   {"share_of_bound", answer.share_of_bound(answer.best)},
                   {"serial_to_best", answer.serial_to_best},
                   {"guess_to_best", answer.guess_to_best}});
  }
  return out;
}

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

/// For the page, one object per pipeline; times in microseconds. The first kMostTimelines have each worker's busy times
/// and causes of idle times.
json pipelines_data(const std::vector<StoredPipeline>& pipelines) {
  json out = json::array();
  for (const StoredPipeline& stored : pipelines) {
    const session::PipelineAnswer& answer = stored.answer;
    json spans = json::array(), gaps = json::array();
    if (answer.timeline && out.size() < kMostTimelines) {
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

/// Those that pass the filter.
RoomResults read_pipelines(const db::Database& database, const ResultFilter& filter) {
  std::vector<StoredPipeline> pipelines = stored_pipelines(database);
  std::erase_if(pipelines, [&](const StoredPipeline& stored) {
    return !filter.admits(stored.answer.streamed.problem, stored.device);
  });
  return {pipelines.size(), pipeline_report_text(pipelines), pipeline_report_json(pipelines),
          pipelines_data(pipelines)};
}

}  // namespace

RoomReport pipeline_report() {
  return {.name = "pipelines",
          .noun = "pipeline",
          .description = "Instead what 'pgtune pipeline' found: time, share of the bound, gain over the serial loop",
          .how_to_get = "search one with 'pgtune pipeline'",
          .script = embedded::pgtune_pipeline_page().front().contents,
          .read = read_pipelines};
}

}  // namespace pgtune::tool
