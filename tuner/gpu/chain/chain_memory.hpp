// SPDX-License-Identifier: MIT
// The buffers that the steps of a chain share, in as many copies as launches of the chain rotate over.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/launch/operand_set.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/model/chain.hpp"
#include "tuner/model/problem_operands.hpp"

namespace pgtune::gpu {

class ChainMemory {
 public:
  /// Bytes of one copy.
  [[nodiscard]] static std::int64_t copy_bytes(const Chain& chain);
  /// cudaErrorMemoryAllocation where the copies do not fit. `kernels` must outlive the result. Nothing is filled.
  [[nodiscard]] static CudaResult<ChainMemory> allocate(const HelperKernels& kernels, const Chain& chain,
                                                        std::int64_t copies);

  [[nodiscard]] std::size_t copies() const { return copies_; }
  [[nodiscard]] DeviceSpan span(std::size_t copy, std::size_t buffer) const;
  /// Where `step` finds its operands, for launches.
  [[nodiscard]] OperandSet operands(std::size_t copy, const ChainStep& step) const;
  /// Of `step` on all copies.
  [[nodiscard]] std::vector<OperandSet> places(const ChainStep& step) const;
  /// Enqueues poison into everything that a step writes anew: whoever reads it too early, reads that.
  [[nodiscard]] CudaResult<> poison_results(std::size_t copy, cudaStream_t stream) const;
  /// Enqueues poison into all of a copy.
  [[nodiscard]] CudaResult<> poison_all(std::size_t copy, cudaStream_t stream) const;

 private:
  explicit ChainMemory(const HelperKernels& kernels) : kernels_(&kernels) {}

  const HelperKernels* kernels_;
  std::size_t copies_ = 0;
  std::int64_t copy_bytes_ = 0;
  std::vector<std::int64_t> offsets_, bytes_;  ///< of buffers, in a copy
  std::vector<std::size_t> results_;           ///< buffers that a step writes anew
  DeviceBuffer memory_;
};

/// What a step's launches, or its reference, are given, with `spans` for its buffers.
[[nodiscard]] OperandSet operand_set(const ChainStep& step, const std::vector<DeviceSpan>& spans);
/// Spans of a problem's operands, in the order of operands_of().
[[nodiscard]] std::vector<DeviceSpan> spans_of(const OperandSet& set, const std::vector<ProblemOperand>& operands);

}  // namespace pgtune::gpu
