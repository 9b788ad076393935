// SPDX-License-Identifier: MIT
// The result of `pgtune pipeline` as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "pipeline/search/pipeline_answer.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::tool {

struct PipelineOutcome {
  pipeline::StreamedProblem streamed;
  DeviceInfo device;
  session::PipelineAnswer answer;
  std::string board;  ///< that measured it
  bool from_database = false;
  bool any_valid = false;
};

/// In 80 columns: copies, kernel, bound, best and its share, the ladder, the timeline.
[[nodiscard]] std::string pipeline_text(const PipelineOutcome& outcome);
[[nodiscard]] nlohmann::json pipeline_json(const PipelineOutcome& outcome);

}  // namespace pgtune::tool
