// SPDX-License-Identifier: MIT
// Host pipelines as the page's document has them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "tool/pgtune/report/pipeline_report.hpp"

namespace pgtune::tool {

/// One object a pipeline; times in microseconds. Of the first `most_timelines` with when each worker was busy and why
/// it was not.
[[nodiscard]] nlohmann::json pipelines_data(const std::vector<StoredPipeline>& pipelines, std::size_t most_timelines);

}  // namespace pgtune::tool
