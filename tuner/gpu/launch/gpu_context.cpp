// SPDX-License-Identifier: MIT
#include "tuner/gpu/launch/gpu_context.hpp"

#include <cuda_runtime_api.h>

#include <utility>

#include "tuner/gpu/launch/cuda_failure.hpp"

namespace pgtune::gpu {

Result<GpuContext> open_context(int ordinal) {
  if (auto ok = check(cudaSetDevice(ordinal), "starting CUDA on the GPU"); !ok) {
    Error error = to_error(ok.error());
    error.kind = ErrorKind::kEnvironment;
    error.message += "; check with nvidia-smi whether another process uses the GPU exclusively or fills its memory";
    return tl::unexpected(error);
  }
  GpuContext context;
  auto driver = Driver::load();
  if (!driver) return tl::unexpected(driver.error());
  context.driver = *driver;
  auto stream = create_stream();
  if (!stream) return tl::unexpected(to_error(stream.error()));
  context.stream = std::move(*stream);
  static_cast<void>(
      check(cudaDeviceGetAttribute(&context.max_window_bytes, cudaDevAttrMaxAccessPolicyWindowSize, ordinal),
            "asking for the access policy window"));
  return context;
}

}  // namespace pgtune::gpu
