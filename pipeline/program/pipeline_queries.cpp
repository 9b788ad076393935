// SPDX-License-Identifier: MIT
#include "pipeline/program/pipeline_queries.hpp"

#include <set>
#include <tuple>

#include "db/queries/records.hpp"
#include "db/queries/row_lookup.hpp"
#include "db/queries/stored_records.hpp"
#include "db/sqlite/statement.hpp"
#include "db/sqlite/timestamp.hpp"
#include "tuner/model/json.hpp"

namespace pgtune::db {
namespace {

/// The conditions that a key sets on session_keys; ?1 to ?5.
constexpr const char* kOfKey =
    " keys.device_class = ?1 AND keys.problem_key = ?2 AND keys.template_name = 'pipeline' AND keys.template_hash = ?3"
    " AND keys.conditions_key = ?4 AND keys.kind = 'pipeline' AND keys.source = 'gpu'"
    " AND (?5 IS NULL OR keys.device_uuid = ?5)";

void insert_sample(Database& database, RowId session, const std::string& candidate, const pipeline::RunSample& sample) {
  Statement(
      database,
      "INSERT INTO pipeline_samples (session, candidate, ordinal, stage, round, position, runs, host_s, device_s,"
      " sm_clock_hz, lead_in_s)"
      " VALUES (?1, ?2, (SELECT count(*) FROM pipeline_samples WHERE session = ?1 AND candidate = ?2), ?3, ?4, ?5,"
      " ?6, ?7, ?8, ?9, ?10)")
      .bind(session, candidate, stage_row(database, sample.stage), sample.round, sample.position, sample.runs,
            sample.host_s, sample.device_s, sample.sm_clock_hz, sample.lead_in_s)
      .run();
}

std::vector<pipeline::RunSample> samples_of(const Database& database, RowId session, const std::string& candidate) {
  Statement statement(database,
                      "SELECT stages.name, round, position, runs, host_s, device_s, sm_clock_hz, lead_in_s"
                      " FROM pipeline_samples"
                      " JOIN stages ON stages.id = pipeline_samples.stage"
                      " WHERE session = ?1 AND candidate = ?2 ORDER BY ordinal");
  statement.bind(session, candidate);
  std::vector<pipeline::RunSample> samples;
  while (statement.step()) {
    pipeline::RunSample& sample = samples.emplace_back();
    statement >> sample.stage >> sample.round >> sample.position >> sample.runs >> sample.host_s >> sample.device_s >>
        sample.sm_clock_hz >> sample.lead_in_s;
    require_valid(sample);
  }
  return samples;
}

/// Rows of a select of trial's session, candidate, candidate_json, outcome's kind and reason, and errors, oldest first.
std::map<std::string, PipelineTrialRow> read_trials(const Database& database, Statement& statement) {
  std::map<std::string, PipelineTrialRow> trials;
  while (statement.step()) {
    RowId session = 0;
    std::string key, json, kind;
    std::optional<double> max_error, norm_error;
    PipelineTrialRow row;
    statement >> session >> key >> json >> kind >> row.result.outcome.reason >> max_error >> norm_error;
    row.result.outcome.kind = known_word<OutcomeKind>(kind, "outcome");
    row.candidate = record_of<pipeline::Candidate>(json, "the database holds a pipeline that");
    if (max_error && norm_error) row.result.check = CheckReport{*max_error, *norm_error};
    row.result.samples = samples_of(database, session, key);
    std::erase_if(row.result.samples, [](const pipeline::RunSample& s) { return s.stage != Stage::kScreen; });
    trials[key] = std::move(row);
  }
  return trials;
}

constexpr const char* kTrialColumns =
    "SELECT trials.session, trials.candidate, trials.candidate_json, outcomes.kind, outcomes.reason, trials.max_error,"
    " trials.norm_error FROM pipeline_trials AS trials JOIN outcomes ON outcomes.id = trials.outcome";

/// The columns for read_recorded().
constexpr const char* kRecorded =
    "SELECT answers.session, keys.device_uuid, sessions.finished_at, answers.time_s, answers.bound_s, answers.complete,"
    " answers.answer_json, keys.template_hash, keys.device_class, keys.problem_key, devices.info_json"
    " FROM pipeline_answers AS answers JOIN session_keys AS keys ON keys.session = answers.session"
    " JOIN sessions ON sessions.id = answers.session JOIN devices ON devices.id = sessions.device";
constexpr const char* kNewestFirst = " ORDER BY answers.complete DESC, sessions.uid DESC";

RecordedPipeline read_recorded(Statement& statement) {
  RecordedPipeline recorded;
  PipelineAnswerRow& row = recorded.answer;
  std::string info;
  statement >> row.session >> row.device_uuid >> row.finished_at >> row.time_s >> row.bound_s >> row.complete >>
      row.answer_json >> recorded.searched >> recorded.device_class >> recorded.problem_key >> info;
  recorded.device = record_of<DeviceInfo>(info, "the database holds a device that");
  return recorded;
}

}  // namespace

void save_pipeline_trial(Database& database, RowId session, const PipelineTrialRow& trial) {
  Transaction transaction(database, TransactionKind::kWrite);
  static_cast<void>(template_of_session(database, session));
  const pipeline::TrialResult& result = trial.result;
  const CheckColumns check = check_columns(result.check);
  Statement(database,
            "INSERT INTO pipeline_trials (session, candidate, candidate_json, outcome, max_error, norm_error,"
            " recorded_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")
      .bind(session, trial.candidate.key(), nlohmann::json(trial.candidate).dump(),
            outcome_row(database, result.outcome), check.max_error, check.norm_error, unix_time_ms())
      .run();
  for (const pipeline::RunSample& sample : result.samples)
    insert_sample(database, session, trial.candidate.key(), sample);
  transaction.commit();
}

void save_pipeline_sample(Database& database, RowId session, const std::string& candidate,
                          const pipeline::RunSample& sample) {
  Transaction transaction(database, TransactionKind::kWrite);
  insert_sample(database, session, candidate, sample);
  transaction.commit();
}

void finish_pipeline(Database& database, RowId session, const std::optional<PipelineAnswerRow>& answer) {
  Transaction transaction(database, TransactionKind::kWrite);
  end_session(database, session);
  if (answer) {
    Statement(database,
              "INSERT OR REPLACE INTO pipeline_answers (session, time_s, bound_s, complete, answer_json)"
              " VALUES (?1, ?2, ?3, ?4, ?5)")
        .bind(session, answer->time_s, answer->bound_s, answer->complete, answer->answer_json)
        .run();
  }
  transaction.commit();
}

std::optional<RecordedPipeline> find_pipeline_answer(const Database& database, const PipelineKey& key) {
  Statement statement(database, std::string(kRecorded) + " WHERE" + kOfKey + kNewestFirst + " LIMIT 1");
  statement.bind(key.device_class, key.problem_key, key.searched, key.conditions_key, key.only_board);
  if (!statement.step()) return std::nullopt;
  return read_recorded(statement);
}

std::map<std::string, PipelineTrialRow> find_pipeline_trials(const Database& database, const PipelineKey& key) {
  Statement statement(database, std::string(kTrialColumns) +
                                    " JOIN session_keys AS keys ON keys.session = trials.session"
                                    " JOIN sessions ON sessions.id = trials.session WHERE" +
                                    kOfKey + " ORDER BY sessions.uid, trials.id");
  statement.bind(key.device_class, key.problem_key, key.searched, key.conditions_key, key.only_board);
  return read_trials(database, statement);
}

std::optional<RecordedPipeline> find_recorded_pipeline(const Database& database, const std::string& problem_key,
                                                       const std::string& searched) {
  Statement statement(
      database, std::string(kRecorded) +
                    " WHERE keys.problem_key = ?1 AND keys.source = 'gpu' AND keys.kind = 'pipeline'"
                    " AND (keys.template_hash = ?2 OR substr(keys.template_hash, 1, length(?2) + 1) = ?2 || ' ')" +
                    kNewestFirst + " LIMIT 1");
  statement.bind(problem_key, searched);
  if (!statement.step()) return std::nullopt;
  return read_recorded(statement);
}

std::vector<RecordedPipeline> list_pipelines(const Database& database) {
  Statement statement(database, std::string(kRecorded) + " WHERE keys.kind = 'pipeline'" + kNewestFirst);
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  std::vector<RecordedPipeline> pipelines;
  while (statement.step()) {
    RecordedPipeline row = read_recorded(statement);
    if (seen.emplace(row.device_class, row.problem_key, row.searched).second) pipelines.push_back(std::move(row));
  }
  return pipelines;
}

}  // namespace pgtune::db
