// SPDX-License-Identifier: MIT
#include "pipeline/search/pipeline_search.hpp"

#include <utility>

#include "pipeline/search/pipeline_run.hpp"

namespace pgtune::session {

Result<PipelineResult> run_pipeline_search(const pipeline::StreamedProblem& streamed, device::PipelineDevice& device,
                                           PipelineStore& store, const PipelineOptions& options,
                                           const std::atomic<bool>& stop, const PipelineProgressCallback& progress,
                                           const Clock& clock) {
  PipelineRun run(streamed, device, store, options, stop, progress, clock);
  for (const auto stage : {prepare_pipelines, propose_pipelines, race_pipelines, conclude_pipelines}) {
    if (auto ok = stage(run); !ok) return tl::unexpected<Error>(ok.error());
  }
  run.answer.elapsed_s = clock.now_s() - run.start_s;
  return PipelineResult{std::move(run.answer), run.best != nullptr, run.stopped()};
}

}  // namespace pgtune::session
