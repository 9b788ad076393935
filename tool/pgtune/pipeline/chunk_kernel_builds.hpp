// SPDX-License-Identifier: MIT
// The best stored kernels for chunks of a pipeline, built.
#pragma once

#include <vector>

#include "tool/pgtune/cli/context.hpp"
#include "tuner/protocol/pipeline_messages.hpp"
#include "tuner/session/host_pipeline/pipeline_search.hpp"

namespace pgtune::tool {

/// For every chunk that the options allow and that `database` has an answer for on GPUs like `device`: its best
/// variant, built. What cannot be built is told on standard error, and left to cuBLASLt.
[[nodiscard]] std::vector<protocol::ChunkKernel> build_chunk_kernels(Context& context, db::Database& database,
                                                                     const pipeline::StreamedProblem& streamed,
                                                                     const DeviceInfo& device,
                                                                     const session::PipelineOptions& options);

}  // namespace pgtune::tool
