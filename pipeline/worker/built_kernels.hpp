// SPDX-License-Identifier: MIT
// Chunks' kernels that were built: pgtune's variants.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/search/messages.hpp"
#include "pipeline/worker/kernel_source.hpp"
#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"

namespace pgtune::gpu {

class BuiltKernels final : public KernelSource {
 public:
  /// `driver` and `helpers` must outlive the object.
  BuiltKernels(const Driver& driver, const HelperKernels& helpers, std::vector<protocol::ChunkKernel> built,
               std::int64_t max_window_bytes)
      : driver_(&driver), helpers_(&helpers), built_(std::move(built)), max_window_bytes_(max_window_bytes) {}

  /// cudaErrorNotSupported for another problem than those of the list.
  [[nodiscard]] CudaResult<Kernel> make(const Problem& problem, const std::vector<OperandSet>& sets, std::size_t sample,
                                        cudaStream_t stream) override;

 private:
  const Driver* driver_;
  const HelperKernels* helpers_;
  std::vector<protocol::ChunkKernel> built_;
  std::int64_t max_window_bytes_;
};

}  // namespace pgtune::gpu
