// SPDX-License-Identifier: MIT
// The arithmetic the tensor cores of this GPU reach when nothing is moved: the kernels of tensor_ceilings.cu as
// functions.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/launch/module.hpp"
#include "tuner/model/dtype.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::gpu {

/// The dtypes tensor_ceilings.cu has a kernel for on this architecture: empty where its instructions are not the
/// ones that reach the ceiling (compute capability 10 has others), or not there.
[[nodiscard]] std::vector<Dtype> tensor_ceiling_dtypes(const DeviceInfo& device);

/// tensor_ceilings.cu compiled for `architecture`, 8.0 or newer; needs no GPU. Errors (environment): this NVRTC does
/// not know it.
[[nodiscard]] Result<std::string> compile_tensor_ceilings(const std::string& architecture);

class TensorCeilingKernels {
 public:
  /// Loads what compile_tensor_ceilings() gave for that device. `driver` must outlive the result.
  [[nodiscard]] static CudaResult<std::unique_ptr<TensorCeilingKernels>> load(const Driver& driver,
                                                                              const std::string& cubin,
                                                                              const DeviceInfo& device);

  /// Enqueues one launch of a dtype of tensor_ceiling_dtypes().
  [[nodiscard]] CudaResult<> launch(Dtype dtype, cudaStream_t stream) const;
  /// Floating-point or integer operations of one launch; a fused multiply-add counts as two.
  [[nodiscard]] double flops(Dtype dtype) const;

 private:
  TensorCeilingKernels(const Driver& driver, Module module, const DeviceInfo& device)
      : driver_(&driver), module_(std::move(module)), sm_count_(device.sm_count), wgmma_(device.compute_major == 9) {}

  const Driver* driver_;
  Module module_;
  std::int64_t sm_count_;
  bool wgmma_;
  std::map<Dtype, CUfunction> functions_;
};

}  // namespace pgtune::gpu
