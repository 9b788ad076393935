// SPDX-License-Identifier: MIT
// One run of a pipeline with the time of each operation.
#pragma once

#include <functional>
#include <memory>

#include "pipeline/worker/cupti_recorder.hpp"
#include "pipeline/worker/loaded_pipeline.hpp"

namespace pgtune::gpu {

/// Opens the recorder when needed.
using RecorderSource = std::function<Result<std::unique_ptr<ActivityRecorder>>()>;

/// Traces a run in its timed form by the recorder's activity records. If a graph's records are ambiguous, its
/// operations run as a loop. Without a recorder, or if the records do not fit the schedule, uses events and stores the
/// reason. Errors: the pipeline's own.
[[nodiscard]] CudaResult<pipeline::Timeline> trace_run(LoadedPipeline& loaded, const RecorderSource& open_recorder);

}  // namespace pgtune::gpu
