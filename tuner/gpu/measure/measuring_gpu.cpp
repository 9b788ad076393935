// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/measuring_gpu.hpp"

#include <cuda_runtime_api.h>

#include <future>
#include <utility>

#include "tuner/gpu/baseline/cublaslt_library.hpp"
#include "tuner/gpu/baseline/cublaslt_matmul.hpp"
#include "tuner/gpu/measure/device_info.hpp"

namespace pgtune::gpu {

Result<GpuContext> open_context(int ordinal) {
  if (auto ok = check(cudaSetDevice(ordinal), "starting CUDA on the GPU"); !ok) {
    Error error = to_error(ok.error());
    error.kind = ErrorKind::kEnvironment;
    error.message += "; check with nvidia-smi whether another process uses the GPU exclusively or fills its memory";
    return tl::unexpected(error);
  }
  GpuContext context;
  TRY_ASSIGN(auto driver, Driver::load());
  context.driver = driver;
  auto stream = create_stream();
  if (!stream) return tl::unexpected(to_error(stream.error()));
  context.stream = std::move(*stream);
  static_cast<void>(
      check(cudaDeviceGetAttribute(&context.max_window_bytes, cudaDevAttrMaxAccessPolicyWindowSize, ordinal),
            "asking for the access policy window"));
  return context;
}

Result<void> MeasuringGpu::open(const std::string& selector) {
  forbid_reduced_precision();
  TRY(load_cublaslt());
  TRY_ASSIGN(const auto ordinal, find_gpu(selector));
  TRY_ASSIGN(auto described, describe_gpu(ordinal));
  info = std::move(described);
  // Creating a context and compiling take about equally long, on different parts of the machine.
  auto compiling = std::async(std::launch::async, &HelperKernels::compile, info.architecture);
  TRY_ASSIGN(auto context, open_context(ordinal));
  gpu = std::move(context);
  TRY_ASSIGN(const auto cubin, compiling.get());
  TRY_ASSIGN(auto loaded, HelperKernels::load_cubin(gpu.driver, cubin, info.sm_count));
  kernels = std::move(loaded);
  if (const auto library = Nvml::open()) {
    if (auto device = library->device(info.uuid)) nvml = std::move(*device);
  }
  auto created = SampleTimer::create(*kernels, info.sm_count, Telemetry(nvml));
  if (!created) return tl::unexpected(to_error(created.error()));
  timer = std::move(*created);
  auto reserved = L2Sweep::create(*kernels, info.l2_bytes);
  if (!reserved) return tl::unexpected(to_error(reserved.error()));
  sweep = std::move(*reserved);
  return {};
}

}  // namespace pgtune::gpu
