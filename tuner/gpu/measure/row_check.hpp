// SPDX-License-Identifier: MIT
// Rows of a family on the GPU: each has the same bits at every M, from whatever row on the product starts,
// and whatever the other rows are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tuner/gpu/launch/operand_set.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/check/operation_kernels.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::gpu {

struct RowsProduct {
  std::int64_t m = 0;
  bool moved = false;  ///< compared from other rows on, and with NaN in most rows, too
};

/// How one of the products is computed, by its number: select() comes before run(), which runs what was selected. Both
/// return why it failed, or nothing.
struct ProductCalls {
  std::function<std::string(std::size_t number, const OperandSet&, std::int64_t& workspace_bytes)> select;
  std::function<std::string(const OperandSet&, const DeviceSpan& workspace, cudaStream_t)> run;
};

/// Compares the rows of all products with those of the last, which has all rows of `problem`. Sums cancel, so that
/// another order of the additions shows. `operation` is the problem's.
[[nodiscard]] CudaResult<protocol::RowsReport> check_rows(const Problem& problem,
                                                          const std::vector<RowsProduct>& products,
                                                          const HelperKernels& kernels,
                                                          const OperationKernels& operation, const ProductCalls& calls,
                                                          cudaStream_t stream);

/// The same of kernels that pgtune launches itself.
[[nodiscard]] CudaResult<protocol::RowsReport> check_rows(const protocol::RowsRequest& request, const Driver& driver,
                                                          const HelperKernels& kernels,
                                                          const OperationKernels& operation, cudaStream_t stream);

}  // namespace pgtune::gpu
