// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/device_info.hpp"

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <nvrtc.h>

#include <charconv>
#include <cstdlib>

#include "tuner/gpu/baseline/cublaslt_library.hpp"
#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/measure/measurer.hpp"
#include "tuner/gpu/nvml/nvml.hpp"

namespace pgtune::gpu {
namespace {

std::string cuda_version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

Error no_gpu_error(cudaError_t code) {
  int driver = 0, runtime = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));
  static_cast<void>(cudaRuntimeGetVersion(&runtime));
  const std::string need = cuda_version_text(runtime);
  std::string message;
  if (driver == 0) {
    message = fmt::format(
        "no NVIDIA driver on this machine (libcuda.so.1 cannot be used); install one that supports "
        "CUDA {}; without it a search prints recorded answers",
        need);
  } else if (code == cudaErrorInsufficientDriver || code == cudaErrorCompatNotSupportedOnDevice) {
    message = fmt::format(
        "the NVIDIA driver is too old: it supports CUDA {}, pgtune-worker was built with CUDA {}; update "
        "the driver, or build pgtune with a CUDA Toolkit the driver supports",
        cuda_version_text(driver), need);
  } else if (code == cudaErrorNoDevice || code == cudaSuccess) {
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    message =
        visible == nullptr
            ? std::string("the NVIDIA driver finds no GPU; check that nvidia-smi lists one")
            : fmt::format("no GPU is visible: CUDA_VISIBLE_DEVICES is '{}'; unset it or name a GPU in it", visible);
  } else {
    message = fmt::format("CUDA does not start: {} ({}); check that nvidia-smi works", cudaGetErrorString(code),
                          cudaGetErrorName(code));
  }
  return Error{ErrorKind::kEnvironment, message, {}};
}

std::string driver_version_text(const Result<Nvml>& nvml) {
  std::string version = nvml ? nvml->driver_version() : std::string();
  if (!version.empty()) return version;
  return "CUDA " + driver_cuda_version();
}

std::string nvrtc_version_text() {
  int major = 0, minor = 0;
  if (nvrtcVersion(&major, &minor) != NVRTC_SUCCESS) return "";  // a search needs it, a list of GPUs does not
  return fmt::format("{}.{}", major, minor);
}

Result<cudaDeviceProp> properties_of(int ordinal) {
  cudaDeviceProp properties{};
  if (auto ok = check(cudaGetDeviceProperties(&properties, ordinal), "reading the GPU's properties"); !ok) {
    return tl::unexpected(to_error(ok.error()));
  }
  return properties;
}

/// CUDA says with the name alone that a device is an instance; its UUID is the instance's.
std::string uuid_of(const cudaDeviceProp& properties) {
  return uuid_text(properties.uuid.bytes, !mig_profile_in(properties.name).empty());
}

}  // namespace

std::string driver_cuda_version() {
  int driver = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));
  return driver > 0 ? cuda_version_text(driver) : std::string();
}

Result<std::string> cublaslt_version() {
  return load_cublaslt().map([](const OpenedLibrary&) {
    const std::size_t version = cublasLtGetVersion();
    return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
  });
}

std::string uuid_text(const char (&bytes)[16], bool instance) {
  std::string text = instance ? "MIG-" : "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(bytes[i]));
  }
  return text;
}

std::string architecture_name(int compute_major, int compute_minor) {
  return fmt::format("sm_{}{}{}", compute_major, compute_minor, compute_major >= 9 ? "a" : "");
}

Result<int> gpu_count() {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess || count == 0) return tl::unexpected(no_gpu_error(code));
  return count;
}

Result<int> find_gpu(const std::string& gpu) {
  const auto count = gpu_count();
  if (!count) return tl::unexpected(count.error());
  int ordinal = 0;
  const char* const end = gpu.data() + gpu.size();
  if (const auto parsed = std::from_chars(gpu.data(), end, ordinal); parsed.ec == std::errc() && parsed.ptr == end) {
    if (ordinal >= 0 && ordinal < *count) return ordinal;
    return fail(ErrorKind::kEnvironment,
                fmt::format("there is no GPU {}: this machine shows {} (0 to {})", ordinal, *count, *count - 1));
  }
  std::string known;
  int found = -1;
  for (int i = 0; i < *count; ++i) {
    const auto properties = properties_of(i);
    if (!properties) return tl::unexpected(properties.error());
    const std::string uuid = uuid_of(*properties);
    known += (known.empty() ? "" : ", ") + uuid;
    if (gpu.empty() || uuid.compare(0, gpu.size(), gpu) != 0) continue;
    if (found >= 0) return fail(ErrorKind::kUsage, fmt::format("'{}' fits more than one GPU: {}", gpu, known));
    found = i;
  }
  if (found >= 0) return found;
  return fail(ErrorKind::kEnvironment,
              fmt::format("no GPU is called '{}'; give a number from 0 to {} or one of {}", gpu, *count - 1, known));
}

Result<DeviceInfo> describe_gpu(int ordinal) {
  const auto properties = properties_of(ordinal);
  if (!properties) return tl::unexpected(properties.error());
  const cudaDeviceProp& p = *properties;
  int clock_khz = 0;
  static_cast<void>(check(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, ordinal), "reading the SM clock"));
  const Result<Nvml> nvml = Nvml::open();

  DeviceInfo info;
  info.uuid = uuid_of(p);
  info.name = p.name;
  info.architecture = architecture_name(p.major, p.minor);
  info.compute_major = p.major;
  info.compute_minor = p.minor;
  info.sm_count = p.multiProcessorCount;
  info.memory_bytes = static_cast<std::int64_t>(p.totalGlobalMem);
  info.l2_bytes = p.l2CacheSize;
  info.smem_per_block_bytes = static_cast<std::int64_t>(p.sharedMemPerBlockOptin);
  info.smem_per_sm_bytes = static_cast<std::int64_t>(p.sharedMemPerMultiprocessor);
  info.registers_per_sm = p.regsPerMultiprocessor;
  info.threads_per_sm = p.maxThreadsPerMultiProcessor;
  info.max_sm_clock_hz = clock_khz * 1e3;
  if (nvml) {
    if (const auto gpu = nvml->device(info.uuid)) {
      info.power_limit_w = gpu->power_limit_w();
      info.mig_profile = gpu->mig_profile();
    }
  }
  if (info.mig_profile.empty()) info.mig_profile = mig_profile_in(info.name);  // which CUDA knows without NVML
  info.driver_version = driver_version_text(nvml);
  info.nvrtc_version = nvrtc_version_text();
  info.cublaslt_version = cublaslt_version().value_or("");
  return info;
}

Result<std::vector<DeviceInfo>> list_gpus() {
  const auto count = gpu_count();
  if (!count) return tl::unexpected(count.error());
  std::vector<DeviceInfo> gpus;
  for (int i = 0; i < *count; ++i) {
    auto info = describe_gpu(i);
    if (!info) return tl::unexpected(info.error());
    gpus.push_back(std::move(*info));
  }
  return gpus;
}

}  // namespace pgtune::gpu
