// SPDX-License-Identifier: MIT
// A chain's variants in the GPU, bound to the buffers that they share: one launch is all of its steps.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tuner/gpu/chain/chain_memory.hpp"
#include "tuner/gpu/measure/checked_problem.hpp"
#include "tuner/gpu/measure/launchable.hpp"
#include "tuner/protocol/chain_messages.hpp"

namespace pgtune::gpu {

class LoadedChain final : public Launchable {
 public:
  /// With `overlapping` the variants that overlap, where a step has one. A failure names the step. `context` and
  /// `memory` must outlive the result.
  [[nodiscard]] static CudaResult<std::unique_ptr<LoadedChain>> load(const MeasureContext& context, const Chain& chain,
                                                                     const std::vector<protocol::ChainKernel>& kernels,
                                                                     const ChainMemory& memory, bool overlapping);

  [[nodiscard]] CudaResult<> launch(std::size_t copy, cudaStream_t stream) override;
  /// The first step follows the last one of the launch before, which it may overlap as any other.
  [[nodiscard]] CudaResult<> launch_next(std::size_t copy, cudaStream_t stream) override;
  /// Enqueues something before each step, whose index it is given.
  using BeforeStep = std::function<CudaResult<>(std::size_t)>;
  /// As launch_next() where it `follows` another launch of the chain, else as launch().
  [[nodiscard]] CudaResult<> launch_watched(std::size_t copy, cudaStream_t stream, bool follows,
                                            const BeforeStep& before);
  [[nodiscard]] CudaResult<> reset(std::size_t copy, cudaStream_t stream) override;
  [[nodiscard]] bool wants_persisting_l2() const override;

  /// Launches of one turn over the copies that may overlap the launch before them, the very first left out.
  [[nodiscard]] std::int64_t overlapping_launches() const;

 private:
  struct Step {
    std::unique_ptr<LoadedVariant> variant;
    bool overlaps = false;
  };
  LoadedChain() = default;

  std::vector<Step> steps_;
  std::size_t copies_ = 0;
};

}  // namespace pgtune::gpu
