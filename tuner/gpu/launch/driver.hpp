// SPDX-License-Identifier: MIT
// The CUDA driver, looked up at run time: nothing here links libcuda, so the program starts without it. Its entry
// points, its names of element types, launches, and cubins loaded into the current context.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <library_types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/model/element_type.hpp"
#include "tuner/model/launch_plan.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

/// Entry points.
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
  // cuProfilerStart and cuProfilerStop, whose header some toolkits lack.
  CUresult (*profiler_start)() = nullptr;
  CUresult (*profiler_stop)() = nullptr;

  /// Errors (environment) name the missing entry point and the remedy. Needs an initialised device.
  [[nodiscard]] static Result<Driver> load();
};

/// The type for cuBLASLt.
[[nodiscard]] cudaDataType_t cuda_type(ElementType type);
/// The type for a tensor map.
[[nodiscard]] CUtensorMapDataType tensor_map_type(TensorType type);

/// A launch without attributes.
[[nodiscard]] CUlaunchConfig launch_config(const Dim3& grid, const Dim3& block, cudaStream_t stream,
                                           std::int64_t dynamic_smem_bytes = 0);

/// A cubin loaded into the current context, with others.
class Module {
 public:
  /// `driver` must outlive the module.
  [[nodiscard]] static CudaResult<Module> load(const Driver& driver, const std::string& cubin);
  /// Loads a further cubin, whose kernels function() finds too.
  [[nodiscard]] CudaResult<> add(const std::string& cubin);

  Module(Module&&) noexcept = default;
  Module& operator=(Module&&) = delete;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module();

  /// A kernel by its extern "C" name. Valid as long as the module.
  [[nodiscard]] CudaResult<CUfunction> function(const std::string& symbol) const;

 private:
  explicit Module(const Driver& driver) : driver_(&driver) {}

  const Driver* driver_;
  std::vector<CUmodule> modules_;
};

}  // namespace pgtune::gpu
