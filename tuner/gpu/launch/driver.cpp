// SPDX-License-Identifier: MIT
#include "tuner/gpu/launch/driver.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>

#include "tuner/util/enum_table.hpp"

namespace pgtune::gpu {
namespace {

// The newest of the entry points, cuTensorMapEncodeTiled, came with CUDA 12.0. Requesting that version of each keeps
// the signatures fixed for all drivers.
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

struct CudaElement {
  ElementType type;
  cudaDataType_t cuda;
};
constexpr std::array<CudaElement, kElementTypeCount> kCudaElements{{{ElementType::kFloat32, CUDA_R_32F},
                                                                    {ElementType::kFloat16, CUDA_R_16F},
                                                                    {ElementType::kBfloat16, CUDA_R_16BF},
                                                                    {ElementType::kE4m3, CUDA_R_8F_E4M3},
                                                                    {ElementType::kE5m2, CUDA_R_8F_E5M2},
                                                                    {ElementType::kInt8, CUDA_R_8I},
                                                                    {ElementType::kInt32, CUDA_R_32I}}};
static_assert(one_row_each(kCudaElements, &CudaElement::type));

struct CudaTensor {
  TensorType type;
  CUtensorMapDataType cuda;
};
constexpr std::array<CudaTensor, kTensorTypeCount> kCudaTensors{
    {{TensorType::kFloat32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32},
     {TensorType::kTfloat32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32},
     {TensorType::kFloat16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16},
     {TensorType::kBfloat16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16},
     {TensorType::kUint8, CU_TENSOR_MAP_DATA_TYPE_UINT8},
     {TensorType::kInt32, CU_TENSOR_MAP_DATA_TYPE_INT32}}};
static_assert(one_row_each(kCudaTensors, &CudaTensor::type));

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

cudaDataType_t cuda_type(ElementType type) { return row_of(kCudaElements, type).cuda; }

CUtensorMapDataType tensor_map_type(TensorType type) { return row_of(kCudaTensors, type).cuda; }

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

CudaResult<Module> Module::load(const Driver& driver, const std::string& cubin) {
  Module module(driver);
  TRY(module.add(cubin));
  return module;
}

CudaResult<> Module::add(const std::string& cubin) {
  CUmodule module = nullptr;
  return check(driver_->module_load_data(&module, cubin.data()), "loading the cubin").map([&] {
    modules_.push_back(module);
  });
}

Module::~Module() {
  for (CUmodule module : modules_) static_cast<void>(driver_->module_unload(module));
}

CudaResult<CUfunction> Module::function(const std::string& symbol) const {
  CUfunction function = nullptr;
  CUresult result = CUDA_ERROR_NOT_FOUND;
  for (auto module = modules_.begin(); module != modules_.end() && result == CUDA_ERROR_NOT_FOUND; ++module)
    result = driver_->module_get_function(&function, *module, symbol.c_str());
  return check(result, "looking up the kernel " + symbol + " in the cubin").map([&] { return function; });
}

}  // namespace pgtune::gpu
