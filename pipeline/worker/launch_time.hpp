// SPDX-License-Identifier: MIT
// How long a launch takes, for choosing between kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

#include "tuner/gpu/launch/cuda_failure.hpp"

namespace pgtune::gpu {

/// The least of three launches after a first one, which loads the kernel; seconds between events. Waits for each.
[[nodiscard]] CudaResult<double> least_launch_time(const std::function<CudaResult<>()>& launch, cudaStream_t stream);

}  // namespace pgtune::gpu
