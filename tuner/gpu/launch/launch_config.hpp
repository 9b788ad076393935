// SPDX-License-Identifier: MIT
// What cuLaunchKernelEx takes beside a kernel and its arguments.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "tuner/model/launch_plan.hpp"

namespace pgtune::gpu {

/// Without attributes.
[[nodiscard]] CUlaunchConfig launch_config(const Dim3& grid, const Dim3& block, cudaStream_t stream,
                                           std::int64_t dynamic_smem_bytes = 0);

}  // namespace pgtune::gpu
