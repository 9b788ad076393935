// SPDX-License-Identifier: MIT
// Entry points of the CUDA driver, looked up at run time: nothing here links libcuda, so the program starts without it.
#pragma once

#include <cuda.h>

#include "tuner/util/result.hpp"

namespace pgtune::gpu {

struct Driver {
  decltype(&cuModuleLoadData) module_load_data = nullptr;
  decltype(&cuModuleUnload) module_unload = nullptr;
  decltype(&cuModuleGetFunction) module_get_function = nullptr;
  decltype(&cuFuncSetAttribute) function_set_attribute = nullptr;
  decltype(&cuLaunchKernelEx) launch_kernel = nullptr;
  decltype(&cuTensorMapEncodeTiled) tensor_map_encode_tiled = nullptr;
  decltype(&cuDeviceGetAttribute) device_get_attribute = nullptr;
  decltype(&cuMemGetAllocationGranularity) memory_granularity = nullptr;
  decltype(&cuMemAddressReserve) address_reserve = nullptr;
  decltype(&cuMemAddressFree) address_free = nullptr;
  decltype(&cuMemCreate) memory_create = nullptr;
  decltype(&cuMemRelease) memory_release = nullptr;
  decltype(&cuMemMap) memory_map = nullptr;
  decltype(&cuMemUnmap) memory_unmap = nullptr;
  decltype(&cuMemSetAccess) memory_set_access = nullptr;
  // cuProfilerStart and cuProfilerStop, whose header not every toolkit brings.
  CUresult (*profiler_start)() = nullptr;
  CUresult (*profiler_stop)() = nullptr;

  /// Errors (environment) name the missing entry point and the remedy. Needs an initialised device.
  [[nodiscard]] static Result<Driver> load();
};

}  // namespace pgtune::gpu
