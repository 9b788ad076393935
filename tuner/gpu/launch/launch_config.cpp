// SPDX-License-Identifier: MIT
#include "tuner/gpu/launch/launch_config.hpp"

namespace pgtune::gpu {

CUlaunchConfig launch_config(const Dim3& grid, const Dim3& block, cudaStream_t stream,
                             std::int64_t dynamic_smem_bytes) {
  CUlaunchConfig config{};
  config.gridDimX = static_cast<unsigned>(grid.x);
  config.gridDimY = static_cast<unsigned>(grid.y);
  config.gridDimZ = static_cast<unsigned>(grid.z);
  config.blockDimX = static_cast<unsigned>(block.x);
  config.blockDimY = static_cast<unsigned>(block.y);
  config.blockDimZ = static_cast<unsigned>(block.z);
  config.sharedMemBytes = static_cast<unsigned>(dynamic_smem_bytes);
  config.hStream = stream;
  return config;
}

}  // namespace pgtune::gpu
