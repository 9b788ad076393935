// SPDX-License-Identifier: MIT
// What steps of a chain that change a buffer in place have found there: it is gone when the chain has ended, and
// judging a step wants its inputs and results as they were.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "tuner/gpu/chain/chain_memory.hpp"
#include "tuner/gpu/launch/handles.hpp"
#include "tuner/model/chain.hpp"

namespace pgtune::gpu {

class ChainSnapshots {
 public:
  /// Room for what is changed in place on the copies that are judged. cudaErrorMemoryAllocation where it does not fit.
  /// `chain` and `memory` must outlive the result.
  [[nodiscard]] static CudaResult<ChainSnapshots> allocate(const Chain& chain, const ChainMemory& memory);

  /// Copies of the chain's buffers that are judged: the first and the last.
  [[nodiscard]] const std::vector<std::size_t>& copies() const { return copies_; }

  /// Enqueues the keeping of what `step` changes in place on `copy`, where that one is judged; before its launch.
  [[nodiscard]] CudaResult<> keep(std::size_t copy, std::size_t step, cudaStream_t stream) const;

  /// Where the operands of `step` are as its launch found them, and as it left them. Precondition: a copy that is
  /// judged, on which keep() was called before each step.
  [[nodiscard]] OperandSet found(std::size_t copy, std::size_t step) const;
  [[nodiscard]] OperandSet left(std::size_t copy, std::size_t step) const;

 private:
  ChainSnapshots(const Chain& chain, const ChainMemory& memory) : chain_(&chain), memory_(&memory) {}

  struct Kept {
    std::size_t copy = 0, step = 0, buffer = 0;
    DeviceBuffer memory;
  };
  /// What the buffer held before that step changed it, else what it holds at the end.
  [[nodiscard]] DeviceSpan span(std::size_t copy, std::size_t buffer, std::optional<std::size_t> changed_by) const;

  const Chain* chain_;
  const ChainMemory* memory_;
  std::vector<std::size_t> copies_;
  std::vector<Kept> kept_;
};

}  // namespace pgtune::gpu
