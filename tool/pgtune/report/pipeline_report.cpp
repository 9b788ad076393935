// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/pipeline_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "db/queries/stored_records.hpp"
#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/recording/record_text.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/model/json.hpp"
#include "tuner/util/fields_json.hpp"

namespace pgtune::tool {
namespace {

/// Why this is no answer of its problem; empty where it is one. A file may hold anything.
std::string why_no_answer(const session::PipelineAnswer& answer) {
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  const pipeline::StreamedProblem& streamed = answer.streamed;
  const auto same = pipeline::parse_streamed(streamed.problem, streamed.stream_text());
  if (!same) return same.error().message;
  if (std::string why = why_illegal(streamed, answer.best.candidate, {kAny, kAny}); !why.empty()) return why;
  if (const auto possible = require_possible_numbers(answer.rates, "copies"); !possible)
    return possible.error().message;
  for (const pipeline::StreamTurn& turn : answer.rates.turns.value_or(std::vector<pipeline::StreamTurn>{})) {
    if (const auto possible = require_possible_numbers(turn, "streams"); !possible) return possible.error().message;
  }
  for (const pipeline::ChunkTime& time : answer.chunk_times) {
    if (!is_sample_time(time.time_s) || time.extent < 1) return fmt::format("a kernel takes {} s", time.time_s);
  }
  if (answer.settled) {
    const auto settled = answer.settled->sample.validate();
    if (!settled) return settled.error().message;
  }
  if (answer.slowdown && !(*answer.slowdown > 0)) return fmt::format("kernels are {} times as slow", *answer.slowdown);
  if (!is_sample_time(answer.best.time_s)) return fmt::format("it takes {} s", answer.best.time_s);
  if (answer.timeline && !is_of(make_schedule(streamed, answer.best.candidate), *answer.timeline))
    return "its timeline is another pipeline's";
  return {};
}

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

}  // namespace

StoredPipeline read_pipeline(db::RecordedPipeline row, const std::string& origin) {
  const std::string subject = fmt::format("{}: the pipeline of session {}", origin, row.answer.session);
  StoredPipeline stored;
  stored.answer = db::record_of<session::PipelineAnswer>(row.answer.answer_json, subject, kSearchAgainRemedy);
  if (const std::string why = why_no_answer(stored.answer); !why.empty())
    throw db::Error(fmt::format("{} cannot be one ({}). {}", subject, why, kSearchAgainRemedy), 0);
  stored.device = std::move(row.device);
  stored.finished_at = std::move(row.answer.finished_at);
  stored.searched = std::move(row.searched);
  stored.session = row.answer.session;
  return stored;
}

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

std::string pipeline_report_text(const std::vector<StoredPipeline>& pipelines) {
  std::map<std::string, TextTable> tables;
  for (const StoredPipeline& stored : pipelines)
    add_row(tables.try_emplace(device_class(stored.device).text(), table_of_class()).first->second, stored.answer);
  std::string text;
  for (const auto& [device, table] : tables) text += (text.empty() ? "" : "\n") + device + "\n" + table.text();
  return text;
}

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

}  // namespace pgtune::tool
