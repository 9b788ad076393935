// SPDX-License-Identifier: MIT
// A failed CUDA call as data: what was called, what came back, and whether the context survived it.
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
  std::string call;     ///< what was being done, "launching sgemm_simt"
  bool sticky = false;  ///< the context is lost: every later call fails and the process must be replaced

  /// "launching sgemm_simt: an illegal memory access was encountered (cudaErrorIllegalAddress)"
  [[nodiscard]] std::string message() const;
};

template <typename T = void>
using CudaResult = tl::expected<T, CudaFailure>;

/// True for errors that poison the context (illegal address, misaligned access, launch timeout, hardware exceptions
/// ...).
[[nodiscard]] bool is_sticky(int code);

/// True for those that a kernel's own code brings about; the others may be the hardware's or the driver's.
[[nodiscard]] bool is_kernel_fault(int code);

/// The one way results of CUDA calls are looked at. Forgets a runtime error that is not sticky, so that it is not
/// reported again by a later call.
[[nodiscard]] CudaResult<> check(cudaError_t code, std::string_view call);
[[nodiscard]] CudaResult<> check(CUresult code, std::string_view call);

/// A variant's fate: kCrashed where the context is lost, else kLaunchFailed.
[[nodiscard]] Outcome failure_outcome(const CudaFailure& failure);
/// For failures that are no variant's fault.
[[nodiscard]] Error to_error(const CudaFailure& failure);

}  // namespace pgtune::gpu
