// SPDX-License-Identifier: MIT
// The pipeline role: the operations of pipeline/search/messages.hpp on one GPU.
#pragma once

#include <memory>
#include <utility>

#include "pipeline/worker/pipeline_runner.hpp"
#include "tool/worker/service.hpp"

namespace pgtune::worker {

class PipelineService final : public Service {
 public:
  explicit PipelineService(std::unique_ptr<gpu::PipelineRunner> runner) : runner_(std::move(runner)) {}

  [[nodiscard]] protocol::Hello hello() const override { return hello_of("pipeline", runner_->info()); }
  [[nodiscard]] Result<nlohmann::json> handle(const protocol::Request& request) override;
  [[nodiscard]] bool context_lost() const override { return runner_->context_lost(); }

 private:
  std::unique_ptr<gpu::PipelineRunner> runner_;
};

}  // namespace pgtune::worker
