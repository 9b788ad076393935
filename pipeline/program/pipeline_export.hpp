// SPDX-License-Identifier: MIT
// `pgtune export pipeline`: the loop of the best pipeline as a self-contained C++17 header.
#pragma once

#include <string>

#include "pipeline/search/pipeline_answer.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::tool {

struct PipelineHeader {
  pipeline::StreamedProblem streamed;
  DeviceInfo device;
  session::PipelineAnswer answer;
  std::string finished_at;
  std::string name_space;  ///< one for which why_no_namespace() is empty
  std::string file_name;   ///< in the example
};

/// The code of pipeline/exported in that namespace, with the best pipeline as `kPlan` and its origin.
[[nodiscard]] std::string write_pipeline_header(const PipelineHeader& content);

}  // namespace pgtune::tool
