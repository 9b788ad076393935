// SPDX-License-Identifier: MIT
// The device behind a search for a pipeline. Implementations: WorkerPipelineDevice (a real GPU through a worker
// process), and a simulated machine in the tests.
#pragma once

#include "pipeline/search/messages.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::device {

class PipelineDevice {
 public:
  virtual ~PipelineDevice() = default;

  [[nodiscard]] virtual const DeviceInfo& info() const = 0;

  /// Makes the problem current; the rest wants one. Errors: usage where it does not fit.
  [[nodiscard]] virtual Result<pipeline::Prepared> prepare(const protocol::PipelinePrepare& request) = 0;
  [[nodiscard]] virtual Result<pipeline::CopyRates> rates() = 0;
  [[nodiscard]] virtual Result<protocol::ChunkTimesReport> kernels(const protocol::ChunkTimesAsked& request) = 0;
  /// Errors: also where it cannot be measured.
  [[nodiscard]] virtual Result<pipeline::SettledKernel> settled(const protocol::SettledKernelAsked& request) = 0;
  /// What becomes of the candidate is the result's outcome, also where it takes the worker with it. Errors end the
  /// search: no worker can be started any more.
  [[nodiscard]] virtual Result<pipeline::TrialResult> trial(const protocol::PipelineTrial& request) = 0;
  /// Candidates that fail get an outcome, the others their samples.
  [[nodiscard]] virtual Result<protocol::PipelineRoundReport> round(const protocol::PipelineRound& request) = 0;
  [[nodiscard]] virtual Result<pipeline::StepTimes> steps(const pipeline::Candidate& candidate) = 0;
  [[nodiscard]] virtual Result<pipeline::Timeline> trace(const pipeline::Candidate& candidate) = 0;
};

}  // namespace pgtune::device
