// SPDX-License-Identifier: MIT
// What a launch gives the GPU to do.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

#include "tuner/gpu/launch/cuda_failure.hpp"

namespace pgtune::gpu {

/// Of how many kernels, fills and copies it consists: it is captured and not run. Precondition: `stream` can be
/// captured and has nothing left to do.
[[nodiscard]] CudaResult<int> pieces_of_launch(const std::function<CudaResult<>()>& launch, cudaStream_t stream);

}  // namespace pgtune::gpu
