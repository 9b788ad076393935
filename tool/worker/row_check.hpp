// SPDX-License-Identifier: MIT
// Rows of an exported family on the GPU: each has the same bits at every M, from whatever row on the product starts,
// and whatever the other rows are.
#pragma once

#include <functional>
#include <string>

#include "tuner/gpu/launch/operand_set.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/check/operation_kernels.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::worker {

/// What a program calls; both return why it failed, or nothing.
struct FamilyCalls {
  std::function<std::string(std::int64_t m, const gpu::OperandSet&, std::int64_t& workspace_bytes)> select;
  std::function<std::string(const gpu::OperandSet&, const gpu::DeviceSpan& workspace, cudaStream_t)> run;
};

/// Compares every M with the rows of the largest, then other first rows and NaN in most rows at the ends of intervals.
/// Sums cancel, so that another order of the additions shows. `operation` is the largest problem's.
[[nodiscard]] gpu::CudaResult<protocol::RowsReport> check_rows(const protocol::RowsRequest& request,
                                                               const gpu::HelperKernels& kernels,
                                                               const gpu::OperationKernels& operation,
                                                               const FamilyCalls& calls, cudaStream_t stream);

}  // namespace pgtune::worker
