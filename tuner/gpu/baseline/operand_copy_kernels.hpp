// SPDX-License-Identifier: MIT
// The kernels of kernels/operand_copies.cu as functions. All of them only enqueue.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "tuner/gpu/baseline/kernels/copy_plans.hpp"
#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/launch/module.hpp"

namespace pgtune::gpu {

class OperandCopyKernels {
 public:
  /// operand_copies.cu compiled for `architecture`, at the first call of a process: only searches whose baseline copies
  /// operands pay for it. Needs no GPU.
  [[nodiscard]] static Result<std::string> compile(const std::string& architecture);
  /// Compiled and loaded. `driver` must outlive the result.
  [[nodiscard]] static Result<std::unique_ptr<OperandCopyKernels>> load(const Driver& driver,
                                                                        const std::string& architecture);

  /// Enqueues what is to be copied before a product of `batch` matrices, in one launch. Precondition: planned(), and
  /// something is copied.
  [[nodiscard]] CudaResult<> lay_out(const OperandCopies& copies, std::int64_t batch, cudaStream_t stream) const;
  /// Precondition: planned(), and there are rows to copy.
  [[nodiscard]] CudaResult<> copy_rows(const RowCopy& copy, std::int64_t batch, cudaStream_t stream) const;

 private:
  enum Kernel { kLayOutOperands, kCopyRows, kCount };

  OperandCopyKernels(const Driver& driver, Module module) : driver_(&driver), module_(std::move(module)) {}
  template <typename... Arguments>
  [[nodiscard]] CudaResult<> launch(Kernel kernel, std::int64_t ctas, cudaStream_t stream,
                                    Arguments... arguments) const;

  const Driver* driver_;
  Module module_;
  std::array<CUfunction, kCount> functions_{};
};

}  // namespace pgtune::gpu
