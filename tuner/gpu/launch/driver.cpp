// SPDX-License-Identifier: MIT
#include "tuner/gpu/launch/driver.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

namespace pgtune::gpu {
namespace {

// The youngest of the entry points, cuTensorMapEncodeTiled, came with CUDA 12.0; asking for that version's form of each
// keeps their signatures fixed whatever the driver is.
constexpr unsigned kEntryPointVersion = 12000;

template <typename Function>
[[nodiscard]] Result<void> look_up(const char* name, Function& function) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t code =
      cudaGetDriverEntryPointByVersion(name, &address, kEntryPointVersion, cudaEnableDefault, &found);
  if (code != cudaSuccess || found != cudaDriverEntryPointSuccess || address == nullptr) {
    return fail(ErrorKind::kEnvironment,
                fmt::format("the NVIDIA driver has no {} of CUDA 12.0; update the driver", name));
  }
  function = reinterpret_cast<Function>(address);
  return {};
}

}  // namespace

Result<Driver> Driver::load() {
  Driver driver;
  return look_up("cuModuleLoadData", driver.module_load_data)
      .and_then([&] { return look_up("cuModuleUnload", driver.module_unload); })
      .and_then([&] { return look_up("cuModuleGetFunction", driver.module_get_function); })
      .and_then([&] { return look_up("cuFuncSetAttribute", driver.function_set_attribute); })
      .and_then([&] { return look_up("cuLaunchKernelEx", driver.launch_kernel); })
      .and_then([&] { return look_up("cuTensorMapEncodeTiled", driver.tensor_map_encode_tiled); })
      .and_then([&] { return look_up("cuDeviceGetAttribute", driver.device_get_attribute); })
      .and_then([&] { return look_up("cuMemGetAllocationGranularity", driver.memory_granularity); })
      .and_then([&] { return look_up("cuMemAddressReserve", driver.address_reserve); })
      .and_then([&] { return look_up("cuMemAddressFree", driver.address_free); })
      .and_then([&] { return look_up("cuMemCreate", driver.memory_create); })
      .and_then([&] { return look_up("cuMemRelease", driver.memory_release); })
      .and_then([&] { return look_up("cuMemMap", driver.memory_map); })
      .and_then([&] { return look_up("cuMemUnmap", driver.memory_unmap); })
      .and_then([&] { return look_up("cuMemSetAccess", driver.memory_set_access); })
      .and_then([&] { return look_up("cuProfilerStart", driver.profiler_start); })
      .and_then([&] { return look_up("cuProfilerStop", driver.profiler_stop); })
      .map([&] { return driver; });
}

}  // namespace pgtune::gpu
