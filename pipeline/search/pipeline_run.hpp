// SPDX-License-Identifier: MIT
// What the stages of a search for a pipeline share.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "pipeline/search/pipeline_search.hpp"
#include "pipeline/search/tried_pipelines.hpp"

namespace pgtune::session {

struct PipelineRun {
  PipelineRun(const pipeline::StreamedProblem& searched, device::PipelineDevice& measured_on,
              PipelineStore& remembered_in, const PipelineOptions& wanted, const std::atomic<bool>& stop_flag,
              const PipelineProgressCallback& progress, const Clock& time);

  const pipeline::StreamedProblem& streamed;
  device::PipelineDevice& device;
  PipelineStore& store;
  const PipelineOptions& options;
  const std::atomic<bool>& stop;
  const PipelineProgressCallback& report;
  const Clock& clock;
  double start_s;
  PipelineAnswer answer;
  pipeline::SpaceLimits space_limits;
  pipeline::Space space;
  pipeline::Machine machine;
  std::vector<pipeline::Expected> expected;  ///< of the space
  pipeline::Candidate guess;
  std::vector<pipeline::Rung> rungs;
  std::map<std::string, pipeline::TrialResult> known;  ///< of earlier searches, by Candidate::key()
  TriedPipelines tried;
  const TriedPipeline* best = nullptr;

  [[nodiscard]] bool stopped() const { return stop.load(); }
  [[nodiscard]] bool proposals_over() const;
  void tell(PipelineProgress::Phase phase, std::int64_t done, std::int64_t total) const;
  /// Checks and screens a candidate that was not tried yet. Screening of an earlier search counts.
  [[nodiscard]] Result<void> try_one(const pipeline::Candidate& candidate);
};

// The stages in their order. Errors: as run_pipeline_search().

/// The machine's rates and kernels, the space and the bound.
[[nodiscard]] Result<void> prepare_pipelines(PipelineRun& run);
/// The first guess, the ladder's rungs, what the model ranks first, and neighbours of the best as long as one is
/// better.
[[nodiscard]] Result<void> propose_pipelines(PipelineRun& run);
/// Balanced rounds of those that matter.
[[nodiscard]] Result<void> race_pipelines(PipelineRun& run);
/// The answer, once the winner was checked again.
[[nodiscard]] Result<void> conclude_pipelines(PipelineRun& run);

}  // namespace pgtune::session
