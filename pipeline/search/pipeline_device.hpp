// SPDX-License-Identifier: MIT
// The device behind a search for a pipeline: a real GPU through a worker process, which is replaced when it dies, hangs
// or loses its context. Tests have a simulated machine.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "pipeline/search/messages.hpp"
#include "tuner/device/role_worker.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::device {

class PipelineDevice {
 public:
  virtual ~PipelineDevice() = default;

  [[nodiscard]] virtual const DeviceInfo& info() const = 0;

  /// Makes the problem current, which all other calls need. Errors: usage if it does not fit.
  [[nodiscard]] virtual Result<pipeline::Prepared> prepare(const protocol::PipelinePrepare& request) = 0;
  [[nodiscard]] virtual Result<pipeline::CopyRates> rates() = 0;
  [[nodiscard]] virtual Result<protocol::ChunkTimesReport> kernels(const protocol::ChunkTimesAsked& request) = 0;
  /// Errors: also if it cannot be measured.
  [[nodiscard]] virtual Result<pipeline::SettledKernel> settled(const protocol::SettledKernelAsked& request) = 0;
  /// The result has the candidate's outcome, also if it ends the worker. Errors end the search: no worker can be
  /// started any more.
  [[nodiscard]] virtual Result<pipeline::TrialResult> trial(const protocol::PipelineTrial& request) = 0;
  /// Candidates that fail get an outcome, the others their samples.
  [[nodiscard]] virtual Result<protocol::PipelineRoundReport> round(const protocol::PipelineRound& request) = 0;
  [[nodiscard]] virtual Result<pipeline::StepTimes> steps(const pipeline::Candidate& candidate) = 0;
  [[nodiscard]] virtual Result<pipeline::Timeline> trace(const pipeline::Candidate& candidate) = 0;
};

class WorkerPipelineDevice final : public PipelineDevice {
 public:
  using Options = RoleWorkerOptions;
  /// Starts the worker. Errors (environment) with the worker's own reason.
  [[nodiscard]] static Result<std::unique_ptr<WorkerPipelineDevice>> open(const Options& options);

  [[nodiscard]] const DeviceInfo& info() const override { return worker_.info(); }
  [[nodiscard]] Result<pipeline::Prepared> prepare(const protocol::PipelinePrepare& request) override;
  [[nodiscard]] Result<pipeline::CopyRates> rates() override;
  [[nodiscard]] Result<protocol::ChunkTimesReport> kernels(const protocol::ChunkTimesAsked& request) override;
  [[nodiscard]] Result<pipeline::SettledKernel> settled(const protocol::SettledKernelAsked& request) override;
  [[nodiscard]] Result<pipeline::TrialResult> trial(const protocol::PipelineTrial& request) override;
  [[nodiscard]] Result<protocol::PipelineRoundReport> round(const protocol::PipelineRound& request) override;
  [[nodiscard]] Result<pipeline::StepTimes> steps(const pipeline::Candidate& candidate) override;
  [[nodiscard]] Result<pipeline::Timeline> trace(const pipeline::Candidate& candidate) override;

 private:
  explicit WorkerPipelineDevice(RoleWorker worker) : worker_(std::move(worker)) {}
  /// If the worker died during the request: an error of kind internal with the reason.
  template <typename T>
  [[nodiscard]] Result<T> ask(const std::string& op, nlohmann::json body);

  RoleWorker worker_;
};

}  // namespace pgtune::device
