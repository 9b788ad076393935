// SPDX-License-Identifier: MIT
// A real GPU's pipelines, through a worker process that is replaced when it dies, hangs or loses its context.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "pipeline/search/pipeline_device.hpp"
#include "tuner/device/role_worker.hpp"

namespace pgtune::device {

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
  /// Where the worker died over it, an error of kind internal with the reason.
  template <typename T>
  [[nodiscard]] Result<T> ask(const std::string& op, nlohmann::json body);

  RoleWorker worker_;
};

}  // namespace pgtune::device
