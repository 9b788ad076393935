// SPDX-License-Identifier: MIT
// Writes and reads searches for host pipelines. A session is begun with begin_session(), kind "pipeline". All functions
// throw Error.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "db/queries/records.hpp"
#include "pipeline/plan/records.hpp"

namespace pgtune::db {

/// The key of a search for a pipeline.
struct PipelineKey {
  std::string device_class;  ///< DeviceClass::text()
  std::string problem_key;
  std::string searched;  ///< the streaming operands, and the searched part of the space
  std::string conditions_key;
  std::optional<std::string> only_board = {};
};

struct PipelineAnswerRow {
  RowId session = 0;
  std::string device_uuid, finished_at;
  double time_s = 0, bound_s = 0;
  bool complete = false;
  std::string answer_json;
};

struct PipelineTrialRow {
  pipeline::Candidate candidate;
  pipeline::TrialResult result;
};

inline constexpr const char* kPipelineKind = "pipeline";

void save_pipeline_trial(Database& database, RowId session, const PipelineTrialRow& trial);
void save_pipeline_sample(Database& database, RowId session, const std::string& candidate,
                          const pipeline::RunSample& sample);
/// Ends the session, with its answer if there is one.
void finish_pipeline(Database& database, RowId session, const std::optional<PipelineAnswerRow>& answer);

/// A search with an answer, for a report or an export.
struct RecordedPipeline {
  PipelineAnswerRow answer;
  std::string searched;  ///< as it is stored
  std::string device_class, problem_key;
  DeviceInfo device;
};

/// The newest complete answer, else the newest.
[[nodiscard]] std::optional<RecordedPipeline> find_pipeline_answer(const Database& database, const PipelineKey& key);
/// The newest trial of each candidate under a key, by Candidate::key(), with its samples of screening.
[[nodiscard]] std::map<std::string, PipelineTrialRow> find_pipeline_trials(const Database& database,
                                                                           const PipelineKey& key);
/// The newest search of a problem on any device; a complete one if there is one. Its searched text is `searched` or
/// begins with it and a blank, so kernels of any build match.
[[nodiscard]] std::optional<RecordedPipeline> find_recorded_pipeline(const Database& database,
                                                                     const std::string& problem_key,
                                                                     const std::string& searched);
/// The newest of each class, problem and searched text; a complete one if there is one.
[[nodiscard]] std::vector<RecordedPipeline> list_pipelines(const Database& database);

}  // namespace pgtune::db
