// SPDX-License-Identifier: MIT
// The current problem's operands in device memory: all copies, filled with random data, guards and poison.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/launch/operand_set.hpp"
#include "tuner/gpu/measure/helper_kernels.hpp"
#include "tuner/gpu/measure/operand_layout.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune::gpu {

/// Recorded with every reference; copies and operands draw from streams of their own under it.
inline constexpr std::uint64_t kDataSeed = 20231107;

class OperandBuffers {
 public:
  /// Allocates `copies` sets. cudaErrorMemoryAllocation where they do not fit. `kernels` must outlive the result.
  [[nodiscard]] static CudaResult<OperandBuffers> allocate(const HelperKernels& kernels, const Problem& problem,
                                                           std::int64_t copies, cudaStream_t stream);

  /// Enqueues the filling of copy `index`: random A, B and C, poison everywhere else.
  [[nodiscard]] CudaResult<> fill(std::size_t index, cudaStream_t stream) const;
  /// Enqueues poison into D and all guards of copy `index`; A, B and C stay.
  [[nodiscard]] CudaResult<> poison(std::size_t index, cudaStream_t stream) const;

  [[nodiscard]] const std::vector<OperandSet>& copies() const { return copies_; }
  [[nodiscard]] const OperandLayout& layout() const { return layout_; }
  /// Guards of copy `index`, in the layout's order.
  [[nodiscard]] std::vector<DeviceSpan> guards(std::size_t index) const;

 private:
  OperandBuffers(const HelperKernels& kernels, const Problem& problem)
      : kernels_(&kernels), problem_(problem), layout_(operand_layout(problem)) {}
  [[nodiscard]] std::uint64_t copy_address(std::size_t index) const;

  const HelperKernels* kernels_;
  Problem problem_;
  OperandLayout layout_;
  DeviceBuffer memory_;
  std::vector<OperandSet> copies_;
};

}  // namespace pgtune::gpu
