// SPDX-License-Identifier: MIT
// The kernels of ceilings.cu as functions. All of them only enqueue.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <memory>
#include <string>

#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/launch/module.hpp"
#include "tuner/gpu/launch/operand_set.hpp"
#include "tuner/gpu/measure/ceilings/ceilings_plan.hpp"

namespace pgtune::gpu {

/// ceilings.cu compiled for `architecture`; needs no GPU. Errors (environment): this NVRTC does not know it.
[[nodiscard]] Result<std::string> compile_ceiling_kernels(const std::string& architecture);

class CeilingKernels {
 public:
  /// Loads what compile_ceiling_kernels() gave. `driver` must outlive the result.
  [[nodiscard]] static CudaResult<std::unique_ptr<CeilingKernels>> load(const Driver& driver, const std::string& cubin,
                                                                        const CeilingsPlan& plan);

  /// Words without a pattern.
  [[nodiscard]] CudaResult<> fill(const DeviceSpan& span, cudaStream_t stream) const;
  /// plan.copy_bytes from one address to the other.
  [[nodiscard]] CudaResult<> copy(std::uint64_t from, std::uint64_t to, cudaStream_t stream) const;
  /// Every CTA reads plan.l2_steps pieces of the region.
  [[nodiscard]] CudaResult<> read_l2(std::uint64_t region, cudaStream_t stream) const;
  /// Every CTA reads its shared memory, plan.smem_iterations times over.
  [[nodiscard]] CudaResult<> read_smem(cudaStream_t stream) const;
  [[nodiscard]] CudaResult<> ffma(cudaStream_t stream) const;

 private:
  enum Kernel { kFill, kCopy, kL2, kSmem, kFfma, kCount };

  CeilingKernels(const Driver& driver, Module module, const CeilingsPlan& plan)
      : driver_(&driver), module_(std::move(module)), plan_(plan) {}
  template <typename... Arguments>
  [[nodiscard]] CudaResult<> launch(Kernel kernel, std::int64_t ctas, std::int64_t threads, cudaStream_t stream,
                                    Arguments... arguments) const;

  const Driver* driver_;
  Module module_;
  CeilingsPlan plan_;
  std::array<CUfunction, kCount> functions_{};
};

}  // namespace pgtune::gpu
