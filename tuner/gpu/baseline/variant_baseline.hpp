// SPDX-License-Identifier: MIT
// The baseline that is a variant of another template: a plain kernel where no library computes the operation.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tuner/gpu/baseline/baseline.hpp"
#include "tuner/gpu/measure/loaded_variant.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::gpu {

/// Loads a built variant for the current problem, bound to its operands.
using VariantLoader = std::function<CudaResult<std::unique_ptr<LoadedVariant>>(const BuildInfo&, const LaunchPlan&)>;

class VariantBaseline : public Baseline {
 public:
  /// Its one algorithm is that variant, checked like those it is compared with. `rotation`: of the operands. Errors say
  /// why it is not available: (usage) it was not built, (internal) it is wrong, CUDA fails.
  [[nodiscard]] static Result<std::unique_ptr<VariantBaseline>> create(const protocol::BaselineBuild& build,
                                                                       const VariantLoader& load,
                                                                       const Rotation& rotation,
                                                                       std::uint64_t data_seed, Checker& checker,
                                                                       SampleTimer& timer, cudaStream_t stream);
  /// As another process found it, on the same data; it is checked. Errors as create(), and a report of something else.
  [[nodiscard]] static Result<std::unique_ptr<VariantBaseline>> take_over(
      const protocol::BaselineBuild& build, const VariantLoader& load, const Rotation& rotation, Checker& checker,
      SampleTimer& timer, const protocol::KnownBaseline& known, cudaStream_t stream);

 private:
  using Baseline::Baseline;
};

}  // namespace pgtune::gpu
