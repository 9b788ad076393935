// SPDX-License-Identifier: MIT
#include "tuner/gpu/launch/cuda_failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace pgtune::gpu {
namespace {

// Codes after which CUDA documents that the process must be terminated and relaunched.
constexpr std::array kStickyCodes{cudaErrorECCUncorrectable,
                                  cudaErrorNvlinkUncorrectable,
                                  cudaErrorContained,
                                  cudaErrorIllegalAddress,
                                  cudaErrorLaunchTimeout,
                                  cudaErrorContextIsDestroyed,
                                  cudaErrorAssert,
                                  cudaErrorHardwareStackError,
                                  cudaErrorIllegalInstruction,
                                  cudaErrorMisalignedAddress,
                                  cudaErrorInvalidAddressSpace,
                                  cudaErrorInvalidPc,
                                  cudaErrorLaunchFailure,
                                  cudaErrorTensorMemoryLeak,
                                  cudaErrorExternalDevice,
                                  cudaErrorUnknown};

constexpr std::array kKernelFaults{cudaErrorIllegalAddress,     cudaErrorAssert,
                                   cudaErrorHardwareStackError, cudaErrorIllegalInstruction,
                                   cudaErrorMisalignedAddress,  cudaErrorInvalidAddressSpace,
                                   cudaErrorInvalidPc,          cudaErrorLaunchFailure};

}  // namespace

std::string CudaFailure::message() const { return fmt::format("{}: {} ({})", call, text, name); }

bool is_sticky(int code) {
  return std::any_of(kStickyCodes.begin(), kStickyCodes.end(), [code](cudaError_t sticky) { return sticky == code; });
}

bool is_kernel_fault(int code) {
  return std::any_of(kKernelFaults.begin(), kKernelFaults.end(), [code](cudaError_t fault) { return fault == code; });
}

CudaResult<> check(cudaError_t code, std::string_view call) {
  if (code == cudaSuccess) return {};
  if (!is_sticky(code)) static_cast<void>(cudaGetLastError());
  return tl::unexpected(
      CudaFailure{code, cudaGetErrorName(code), cudaGetErrorString(code), std::string(call), is_sticky(code)});
}

CudaResult<> check(CUresult code, std::string_view call) {
  // Driver and runtime number their errors alike, so the runtime can name a driver error.
  return check(static_cast<cudaError_t>(code), call);
}

Outcome failure_outcome(const CudaFailure& failure) {
  if (failure.code == cudaErrorLaunchTimeout) return {OutcomeKind::kTimeout, failure.message()};
  return {failure.sticky ? OutcomeKind::kCrashed : OutcomeKind::kLaunchFailed, failure.message()};
}

Error to_error(const CudaFailure& failure) { return Error{ErrorKind::kInternal, failure.message(), {}}; }

}  // namespace pgtune::gpu
