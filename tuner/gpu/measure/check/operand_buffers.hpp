// SPDX-License-Identifier: MIT
// The current problem's operands in device memory: all copies, filled with data, guards and poison.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/launch/operand_set.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/check/operand_layout.hpp"
#include "tuner/model/conditions.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune::gpu {

class OperandBuffers {
 public:
  /// What the operands hold. Copies and operands draw from streams of their own under the seed.
  struct Data {
    DataDistribution distribution = DataDistribution::kUniform;
    std::uint64_t seed = 0;
  };

  /// Allocates `copies` sets. cudaErrorMemoryAllocation where they do not fit. `kernels` must outlive the result.
  [[nodiscard]] static CudaResult<OperandBuffers> allocate(const HelperKernels& kernels, const Problem& problem,
                                                           const Data& data, std::int64_t copies, cudaStream_t stream);

  /// Enqueues the filling of copy `index`: data in A, B, C and the bias, poison everywhere else.
  [[nodiscard]] CudaResult<> fill(std::size_t index, cudaStream_t stream) const;
  /// Enqueues poison into D and all guards of copy `index`; A, B, C and the bias stay.
  [[nodiscard]] CudaResult<> poison(std::size_t index, cudaStream_t stream) const;

  [[nodiscard]] const std::vector<OperandSet>& copies() const { return copies_; }
  [[nodiscard]] const HelperKernels& kernels() const { return *kernels_; }
  [[nodiscard]] const Data& data() const { return data_; }
  [[nodiscard]] const OperandLayout& layout() const { return layout_; }
  /// Guards of copy `index`, in the layout's order.
  [[nodiscard]] std::vector<DeviceSpan> guards(std::size_t index) const;

 private:
  OperandBuffers(const HelperKernels& kernels, const Problem& problem, const Data& data)
      : kernels_(&kernels), problem_(problem), data_(data), layout_(operand_layout(problem)) {}
  [[nodiscard]] CudaResult<> fill_matrix(const DeviceSpan& matrix, ElementType type, std::int64_t rows,
                                         std::int64_t columns, std::int64_t ld, std::uint64_t seed,
                                         cudaStream_t stream) const;
  [[nodiscard]] std::uint64_t copy_address(std::size_t index) const;

  const HelperKernels* kernels_;
  Problem problem_;
  Data data_;
  OperandLayout layout_;
  DeviceBuffer memory_;
  std::vector<OperandSet> copies_;
};

}  // namespace pgtune::gpu
