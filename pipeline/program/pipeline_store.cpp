// SPDX-License-Identifier: MIT
#include "pipeline/program/pipeline_store.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "db/queries/queries.hpp"
#include "db/queries/records.hpp"
#include "db/queries/stored_records.hpp"
#include "tool/pgtune/measuring/database_store.hpp"
#include "tool/pgtune/recording/record_text.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/model/json.hpp"
#include "tuner/util/fields_json.hpp"

namespace pgtune::tool {
namespace {

/// Increases when the same text means another space or another way of measuring: 2, copies in batches; 3, NUMA nodes.
constexpr int kSpaceVersion = 3;

/// Why this is no answer of its problem; empty if it is one. A file may have any content.
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

/// Throws db::Error if the row's problem differs from the key's.
StoredPipeline read_of(const pipeline::StreamedProblem& streamed, db::RecordedPipeline row, const std::string& origin) {
  StoredPipeline stored = read_pipeline(std::move(row), origin);
  if (stored.answer.streamed != streamed)
    throw db::Error(fmt::format("{}: the pipeline of session {} is of {}, not of {}. {}", origin, stored.session,
                                stored.answer.streamed.title(), streamed.title(), kSearchAgainRemedy),
                    0);
  return stored;
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

std::string searched_text(const pipeline::StreamedProblem& streamed, const session::PipelineOptions& options) {
  std::string text =
      fmt::format("{} {} cut {} memory {}", kSpaceVersion, streamed.stream_text(),
                  options.cut ? to_string(*options.cut) : "any", options.memory ? to_string(*options.memory) : "any");
  return options.kernels_text.empty() ? text : text + " kernels " + options.kernels_text;
}

PipelineDatabaseStore::PipelineDatabaseStore(db::Database& database, const pipeline::StreamedProblem& streamed,
                                             const DeviceInfo& device, const session::PipelineOptions& options)
    : database_(database),
      streamed_(streamed),
      device_(device),
      searched_(searched_text(streamed, options)),
      conditions_(options.conditions) {}

std::optional<StoredPipeline> PipelineDatabaseStore::answer() const {
  db::PipelineKey key{device_class(device_).text(), streamed_.problem.key(), searched_, conditions_.key(),
                      device_.uuid};
  auto row = db::find_pipeline_answer(database_, key);
  if (!row || !row->answer.complete) {
    key.only_board.reset();
    row = db::find_pipeline_answer(database_, key);
  }
  if (!row || !row->answer.complete) return std::nullopt;
  return read_of(streamed_, std::move(*row), database_.origin());
}

void PipelineDatabaseStore::begin(const std::string& command_line, std::uint64_t seed) {
  db::SessionRow row;
  row.conditions_key = conditions_.key();
  row.conditions_json = nlohmann::json(conditions_).dump();
  row.kind = db::kPipelineKind;
  row.seed = seed;
  row.command_line = command_line;
  session_ =
      db::begin_session(database_, device_, this_program(), streamed_.problem, {db::kPipelineKind, searched_}, row);
}

void PipelineDatabaseStore::finish(const std::optional<session::PipelineAnswer>& answer) {
  std::optional<db::PipelineAnswerRow> row;
  if (answer) {
    row.emplace();
    row->time_s = answer->best.time_s;
    row->bound_s = answer->bound.total_s;
    row->complete = answer->complete;
    row->answer_json = nlohmann::json(*answer).dump();
  }
  db::finish_pipeline(database_, session_, row);
}

std::map<std::string, pipeline::TrialResult> PipelineDatabaseStore::trials() {
  const db::PipelineKey key{device_class(device_).text(), streamed_.problem.key(), searched_, conditions_.key(),
                            device_.uuid};
  std::map<std::string, pipeline::TrialResult> trials;
  for (auto& [candidate, row] : db::find_pipeline_trials(database_, key)) {
    // A trial without samples is a second check, which adds nothing if the result is right.
    if (row.result.outcome.kind != OutcomeKind::kOk || !row.result.samples.empty())
      trials.emplace(candidate, std::move(row.result));
  }
  return trials;
}

void PipelineDatabaseStore::save_trial(const pipeline::Candidate& candidate, const pipeline::TrialResult& result) {
  db::save_pipeline_trial(database_, session_, {candidate, result});
}

void PipelineDatabaseStore::save_round_sample(const pipeline::Candidate& candidate, const pipeline::RunSample& sample) {
  db::save_pipeline_sample(database_, session_, candidate.key(), sample);
}

std::optional<StoredPipeline> recorded_pipeline(const db::Database& database, const pipeline::StreamedProblem& streamed,
                                                const session::PipelineOptions& options) {
  auto found = db::find_recorded_pipeline(database, streamed.problem.key(), searched_text(streamed, options));
  if (!found) return std::nullopt;
  return read_of(streamed, std::move(*found), database.origin());
}

}  // namespace pgtune::tool
