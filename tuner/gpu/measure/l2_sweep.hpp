// SPDX-License-Identifier: MIT
// Takes out of L2 what is there, so that what is timed next finds nothing of use that ran before it has left.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <utility>

#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"

namespace pgtune::gpu {

/// A kernel whose reads and writes all evict first makes room for itself with its own lines alone, however long it
/// runs: of operands that were left with usual priority it finds a part in L2 again and again, and is timed as faster
/// than it is (docs/operations.md#what-hints-leave-in-l2).
class L2Sweep {
 public:
  /// Allocates memory of twice `l2_bytes`. Errors: cudaErrorMemoryAllocation. `kernels` must outlive the result.
  [[nodiscard]] static CudaResult<L2Sweep> create(const HelperKernels& kernels, std::int64_t l2_bytes);

  /// Enqueues a read of that memory with usual priority: clean lines, which cost what comes next nothing to replace.
  [[nodiscard]] CudaResult<> run(cudaStream_t stream) const;

 private:
  L2Sweep(const HelperKernels& kernels, DeviceBuffer memory) : kernels_(&kernels), memory_(std::move(memory)) {}

  const HelperKernels* kernels_;
  DeviceBuffer memory_;  ///< behind what is read the sum of it, for which nobody asks
};

}  // namespace pgtune::gpu
