// SPDX-License-Identifier: MIT
// The compile role: "build" requests to cubins in the cache.
#pragma once

#include <utility>

#include "tool/worker/service.hpp"
#include "tuner/gpu/jit/builder.hpp"

namespace pgtune::worker {

class CompileService final : public Service {
 public:
  explicit CompileService(gpu::Builder builder) : builder_(std::move(builder)) {}

  [[nodiscard]] device::Hello hello() const override;
  [[nodiscard]] Result<nlohmann::json> handle(const device::Request& request) override;
  [[nodiscard]] bool context_lost() const override { return false; }

 private:
  gpu::Builder builder_;
};

}  // namespace pgtune::worker
