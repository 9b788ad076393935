// SPDX-License-Identifier: MIT
// One run of a pipeline with the time of each operation.
#pragma once

#include <functional>
#include <memory>

#include "pipeline/worker/cupti_recorder.hpp"
#include "pipeline/worker/loaded_pipeline.hpp"

namespace pgtune::gpu {

/// Opened when it is asked for.
using RecorderSource = std::function<Result<std::unique_ptr<ActivityRecorder>>()>;

/// By the recorder's activity records of a run as it is timed, a graph as a graph, or where the graph's records cannot
/// be told apart, of its operations as a loop. Where there is no recorder, or its records are not those of the
/// schedule, by events, with the reason. Errors: the pipeline's own.
[[nodiscard]] CudaResult<pipeline::Timeline> trace_run(LoadedPipeline& loaded, const RecorderSource& open_recorder);

}  // namespace pgtune::gpu
