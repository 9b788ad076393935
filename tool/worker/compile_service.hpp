// SPDX-License-Identifier: MIT
// The compile role: "build" requests to cubins in the cache.
#pragma once

#include <optional>
#include <utility>

#include "tool/worker/memory_limit.hpp"
#include "tool/worker/service.hpp"
#include "tuner/gpu/jit/builder.hpp"

namespace pgtune::worker {

class CompileService final : public Service {
 public:
  /// Without `limit` the compiler may take what memory there is.
  CompileService(gpu::Builder builder, std::optional<MemoryLimit> limit)
      : builder_(std::move(builder)), limit_(limit) {}

  [[nodiscard]] protocol::Hello hello() const override;
  [[nodiscard]] Result<nlohmann::json> handle(const protocol::Request& request) override;
  [[nodiscard]] bool context_lost() const override { return false; }

 private:
  gpu::Builder builder_;
  std::optional<MemoryLimit> limit_;
};

}  // namespace pgtune::worker
