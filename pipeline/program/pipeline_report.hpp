// SPDX-License-Identifier: MIT
// The host pipelines that a database holds, as they are read. What is reported of them: pipeline_report() of room.hpp.
#pragma once

#include <string>

#include "pipeline/program/pipeline_queries.hpp"
#include "pipeline/search/pipeline_answer.hpp"

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

}  // namespace pgtune::tool
