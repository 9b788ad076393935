// SPDX-License-Identifier: MIT
// The chain role: the operations of tuner/protocol/chain_messages.hpp on one GPU.
#pragma once

#include <memory>
#include <utility>

#include "tool/worker/service.hpp"
#include "tuner/gpu/chain/chain_runner.hpp"

namespace pgtune::worker {

class ChainService final : public Service {
 public:
  explicit ChainService(std::unique_ptr<gpu::ChainRunner> runner) : runner_(std::move(runner)) {}

  [[nodiscard]] protocol::Hello hello() const override { return hello_of("chain", runner_->info()); }
  [[nodiscard]] Result<nlohmann::json> handle(const protocol::Request& request) override;
  [[nodiscard]] bool context_lost() const override { return runner_->context_lost(); }

 private:
  std::unique_ptr<gpu::ChainRunner> runner_;
};

}  // namespace pgtune::worker
