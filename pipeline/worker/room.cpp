// SPDX-License-Identifier: MIT
// The role "pipeline" of the worker.
#include "pipeline/worker/pipeline_service.hpp"
#include "tool/worker/roles.hpp"

namespace pgtune::worker {

void register_pipeline(RoomRoles& rooms) { rooms["pipeline"] = serve_gpu<PipelineService, gpu::PipelineRunner>; }

}  // namespace pgtune::worker
