// SPDX-License-Identifier: MIT
// The host pipelines that a database holds, and `pgtune report --pipelines`: one line each.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "db/queries/pipeline_queries.hpp"
#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tuner/session/host_pipeline/pipeline_answer.hpp"

namespace pgtune::tool {

struct StoredPipeline {
  session::PipelineAnswer answer;
  DeviceInfo device;
  std::string finished_at;
  std::string searched;  ///< as it is stored
  db::RowId session = 0;
};

/// Throws db::Error for a row that cannot be read or is no pipeline of its problem; `origin` is the database's.
[[nodiscard]] StoredPipeline read_pipeline(db::RecordedPipeline row, const std::string& origin);

/// The newest of each problem, space and class of GPUs, smallest problem first. Throws as read_pipeline().
[[nodiscard]] std::vector<StoredPipeline> stored_pipelines(const db::Database& database);

/// In 80 columns, a table a class.
[[nodiscard]] std::string pipeline_report_text(const std::vector<StoredPipeline>& pipelines);
/// One object a pipeline.
[[nodiscard]] nlohmann::json pipeline_report_json(const std::vector<StoredPipeline>& pipelines);

}  // namespace pgtune::tool
