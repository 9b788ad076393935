// SPDX-License-Identifier: MIT
// Compares a pipeline's D with float64, on rows spread over all of it if it is too large for a whole reference.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pipeline/plan/chunk_plan.hpp"
#include "pipeline/worker/host_operands.hpp"
#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/check/operation_kernels.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::gpu {

struct CheckedResult {
  CheckReport report;
  std::string fault;  ///< empty: right
};

class ResultCheck {
 public:
  /// Computes the reference from the operands: in device memory where `resident` has an address, else from `host`.
  /// `block` computes the product of a block of pipeline::checked_rows(), which are of equal height; it and `helpers`
  /// must outlive the result. Precondition: the problem has its operation.
  [[nodiscard]] static CudaResult<std::unique_ptr<ResultCheck>> create(
      const pipeline::StreamedProblem& streamed, const HostOperands& host, const ResidentOperands& resident,
      const HelperKernels& helpers, const OperationKernels& block, cudaStream_t stream);

  /// Compares D, in device memory at `resident_d` where that is not 0, else in `host`. Waits.
  [[nodiscard]] CudaResult<CheckedResult> look(const HostOperands& host, std::uint64_t resident_d) const;
  [[nodiscard]] std::int64_t rows() const { return rows_; }

 private:
  ResultCheck(const pipeline::StreamedProblem& streamed, const HelperKernels& helpers, const OperationKernels& block,
              cudaStream_t stream)
      : streamed_(streamed), helpers_(&helpers), block_(&block), stream_(stream) {}
  [[nodiscard]] CudaResult<> refer(const HostOperands& host, const ResidentOperands& resident);
  [[nodiscard]] const OperationBuffer& d_of_block() const;
  [[nodiscard]] CudaResult<> compare() const;
  [[nodiscard]] std::int64_t row_in_d(std::int64_t checked_row) const;

  pipeline::StreamedProblem streamed_;
  const HelperKernels* helpers_;
  const OperationKernels* block_;
  cudaStream_t stream_;
  std::vector<pipeline::Chunk> blocks_;
  std::int64_t rows_ = 0;
  DeviceBuffer reference_, scale_, results_, d_;
};

}  // namespace pgtune::gpu
