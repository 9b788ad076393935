// SPDX-License-Identifier: MIT
// What an operation is compared with: the fairest of its baselines that is available, with the others beside it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tuner/gpu/baseline/baseline.hpp"
#include "tuner/gpu/baseline/variant_baseline.hpp"
#include "tuner/gpu/measure/check/checker.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::gpu {

/// What baselines are made of. Everything must outlive them.
struct BaselineParts {
  const OperandBuffers& buffers;
  Checker& checker;
  const HelperKernels& kernels;
  SampleTimer& timer;
  const std::string& library;  ///< "cuBLASLt 13.1.0"
  cudaStream_t stream;
  const std::vector<protocol::BaselineBuild>& builds;  ///< PrepareRequest's
  VariantLoader load;
};

/// The first of the operation's baselines that is available, which is what ratios are to; where none is, the copy. The
/// others' times, or why they are not available, are in its report. Errors: the copy's, and a lost context.
[[nodiscard]] Result<std::unique_ptr<Baseline>> operation_baseline(const Problem& problem, const BaselineParts& parts);
/// The one that another process chose, without looking at the others again.
[[nodiscard]] Result<std::unique_ptr<Baseline>> take_over_operation_baseline(const Problem& problem,
                                                                             const BaselineParts& parts,
                                                                             const protocol::KnownBaseline& known);

/// Bytes that all of them allocate: with each operand set, and once.
struct BaselineMemory {
  std::int64_t copy = 0, once = 0;
};
[[nodiscard]] BaselineMemory operation_baseline_memory(const Problem& problem);

}  // namespace pgtune::gpu
