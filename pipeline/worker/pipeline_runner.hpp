// SPDX-License-Identifier: MIT
// The pipeline role's half of pgtune-worker: one GPU, one current problem; checks and times candidates on it.
#pragma once

#include <memory>
#include <string>

#include "pipeline/plan/timeline.hpp"
#include "pipeline/search/messages.hpp"
#include "tuner/model/records.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

class PipelineRunner {
 public:
  /// `gpu`: ordinal, UUID or the unique beginning of one. Errors as Measurer::open(). Must be the process's first use
  /// of CUDA.
  [[nodiscard]] static Result<std::unique_ptr<PipelineRunner>> open(const std::string& gpu);
  ~PipelineRunner();

  [[nodiscard]] const DeviceInfo& info() const;
  /// Whether a sticky CUDA error occurred: the process must end.
  [[nodiscard]] bool context_lost() const;

  /// Frees the old problem and makes the request's current: operands in pageable host memory or on the GPU, and the
  /// float64 reference of the rows that are checked. Errors: usage where they do not fit.
  [[nodiscard]] Result<pipeline::Prepared> prepare(const protocol::PipelinePrepare& request);

  // The other calls need a prepared problem. Errors (environment, internal) are not the candidate's fault.
  [[nodiscard]] Result<pipeline::CopyRates> rates();
  [[nodiscard]] Result<protocol::ChunkTimesReport> kernels(const protocol::ChunkTimesAsked& request);
  [[nodiscard]] Result<pipeline::SettledKernel> settled(const protocol::SettledKernelAsked& request);
  [[nodiscard]] Result<pipeline::TrialResult> trial(const protocol::PipelineTrial& request);
  [[nodiscard]] Result<protocol::PipelineRoundReport> round(const protocol::PipelineRound& request);
  [[nodiscard]] Result<pipeline::StepTimes> steps(const protocol::PipelineTrial& request);
  [[nodiscard]] Result<pipeline::Timeline> trace(const protocol::PipelineTraceAsked& request);

 private:
  struct State;
  explicit PipelineRunner(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pgtune::gpu
