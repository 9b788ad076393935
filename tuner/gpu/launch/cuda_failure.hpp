// SPDX-License-Identifier: MIT
// A failed CUDA call: the action, the error code, and whether the context survived.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "tuner/model/outcome.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

struct CudaFailure {
  int code = 0;         ///< CUresult and cudaError_t share their numbers; cuBLAS statuses are their own
  std::string name;     ///< "cudaErrorIllegalAddress"
  std::string text;     ///< "an illegal memory access was encountered"
  std::string call;     ///< the action, "launching sgemm_simt"
  bool sticky = false;  ///< the context is lost: every later call fails and the process must be replaced

  /// "launching sgemm_simt: an illegal memory access was encountered (cudaErrorIllegalAddress)"
  [[nodiscard]] std::string message() const;
};

template <typename T = void>
using CudaResult = tl::expected<T, CudaFailure>;

/// True for errors that poison the context (illegal address, misaligned access, launch timeout, hardware exceptions
/// ...).
[[nodiscard]] bool is_sticky(int code);

/// True for errors that a kernel's own code causes; the others may come from the hardware or the driver.
[[nodiscard]] bool is_kernel_fault(int code);

/// Checks the result of every CUDA call. Clears a runtime error that is not sticky, so that no later call reports it
/// again.
[[nodiscard]] CudaResult<> check(cudaError_t code, std::string_view call);
[[nodiscard]] CudaResult<> check(CUresult code, std::string_view call);

/// The variant's outcome: kCrashed if the context is lost, else kLaunchFailed.
[[nodiscard]] Outcome failure_outcome(const CudaFailure& failure);
/// The error for failures that no variant caused.
[[nodiscard]] Error to_error(const CudaFailure& failure);

}  // namespace pgtune::gpu
