// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/persisting_l2.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>

#include "tuner/gpu/launch/cuda_failure.hpp"

namespace pgtune::gpu {

PersistingL2::PersistingL2() {
  int device = 0, bytes = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxPersistingL2CacheSize, device) != cudaSuccess)
    return;
  static_cast<void>(
      check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, static_cast<std::size_t>(bytes)), "setting L2 aside"));
}

PersistingL2::~PersistingL2() {
  static_cast<void>(check(cudaCtxResetPersistingL2Cache(), "releasing persisting L2 lines"));
  static_cast<void>(check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0), "returning the L2 set aside"));
}

}  // namespace pgtune::gpu
