// SPDX-License-Identifier: MIT
// Looking for and waiting for work on the GPU, which may never end.
#pragma once

#include <cuda_runtime_api.h>

#include <string_view>

#include "tuner/gpu/launch/cuda_failure.hpp"

namespace pgtune::gpu {

/// Whether `event` has happened. Fails where the GPU has.
[[nodiscard]] CudaResult<bool> has_happened(cudaEvent_t event, std::string_view call);

/// Waits until `event` has happened, for `limit_s` at most (0: for ever). Past the limit: a failure of `call` with the
/// sticky code cudaErrorLaunchTimeout; the work still runs, and this process can do nothing about it but end.
[[nodiscard]] CudaResult<> wait_for(cudaEvent_t event, double limit_s, std::string_view call);

}  // namespace pgtune::gpu
