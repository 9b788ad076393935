// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/device_info.hpp"

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <nvrtc.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>

#include "tuner/gpu/baseline/cublaslt_library.hpp"
#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/libraries/cuda_library.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/measurer.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"
#include "tuner/gpu/nvml/nvml.hpp"
#include "tuner/model/architectures.hpp"
#include "tuner/util/middle.hpp"

namespace pgtune::gpu {
namespace {

std::string cuda_version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

/// The library that the loader finds as the driver; empty where it finds none.
std::string driver_file() {
  void* const handle = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return "";
  const std::string file = library_file(handle).string();
  ::dlclose(handle);
  return file;
}

/// The toolkit's stand-in for linking, which knows a version and can do nothing.
bool is_stub(cudaError_t code) { return code == cudaErrorStubLibrary; }

Error no_gpu_error(cudaError_t code) {
  int driver = 0, runtime = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));
  static_cast<void>(cudaRuntimeGetVersion(&runtime));
  const std::string need = cuda_version_text(runtime);
  std::string message;
  if (is_stub(code)) {
    message = fmt::format(
        "{} is the CUDA Toolkit's stub, for linking only, and was found before the driver's own library; take its "
        "folder out of LD_LIBRARY_PATH (and of ldconfig's folders), or put the driver's libcuda.so.1 before it",
        driver_file());
  } else if (driver == 0) {
    message = fmt::format(
        "no NVIDIA driver on this machine (libcuda.so.1 cannot be used); install one that supports "
        "CUDA {}",
        need);
  } else if (code == cudaErrorInsufficientDriver || code == cudaErrorCompatNotSupportedOnDevice) {
    message = fmt::format(
        "the NVIDIA driver ({}) is too old: it supports CUDA {}, pgtune-worker was built with CUDA {}; update "
        "the driver, or build pgtune with a CUDA Toolkit the driver supports",
        driver_file(), cuda_version_text(driver), need);
  } else if (code == cudaErrorNoDevice || code == cudaSuccess) {
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    message =
        visible == nullptr
            ? fmt::format("the NVIDIA driver ({}) finds no GPU; check that nvidia-smi lists one", driver_file())
            : fmt::format("no GPU is visible: CUDA_VISIBLE_DEVICES is '{}'; unset it or name a GPU in it", visible);
  } else {
    message = fmt::format("CUDA does not start with {}: {} ({}); check that nvidia-smi works", driver_file(),
                          cudaGetErrorString(code), cudaGetErrorName(code));
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

/// In CUDA only the name shows that a device is an instance; its UUID is the instance's.
std::string uuid_of(const cudaDeviceProp& properties) {
  return uuid_text(properties.uuid.bytes, !mig_profile_in(properties.name).empty());
}

constexpr int kEventPairs = 101;
/// Each gives one reading an SM; their times fall at random between two steps of the timer.
constexpr int kClockReadings = 20;

CudaResult<double> event_floor_s(cudaStream_t stream) {
  TRY_ASSIGN(auto start, create_event());
  TRY_ASSIGN(auto stop, create_event());
  std::vector<double> times_s(kEventPairs);
  for (double& time_s : times_s) {
    TRY(check(cudaEventRecord(start.get(), stream), "recording an event"));
    TRY(check(cudaEventRecord(stop.get(), stream), "recording an event"));
    TRY(check(cudaEventSynchronize(stop.get()), "waiting for an event"));
    TRY_ASSIGN(time_s, seconds_between(start.get(), stop.get()));
  }
  return middle_of(std::move(times_s));
}

CudaResult<double> globaltimer_step_s(const HelperKernels& kernels, int sm_count, cudaStream_t stream) {
  std::vector<ClockReading> readings(static_cast<std::size_t>(sm_count));
  const auto bytes = readings.size() * sizeof(ClockReading);
  TRY_ASSIGN(auto buffer, DeviceBuffer::allocate(static_cast<std::int64_t>(bytes)));
  std::vector<std::uint64_t> times_ns;
  for (int i = 0; i < kClockReadings; ++i) {
    auto done = check(cudaMemsetAsync(buffer.data(), 0, bytes, stream), "clearing clocks")
                    .and_then([&] { return kernels.read_clocks(buffer.address(), stream); })
                    .and_then([&] { return check(cudaStreamSynchronize(stream), "reading clocks"); })
                    .and_then([&] {
                      return check(cudaMemcpy(readings.data(), buffer.data(), bytes, cudaMemcpyDeviceToHost),
                                   "fetching clocks");
                    });
    if (!done) return tl::unexpected(done.error());
    for (const ClockReading& reading : readings) {
      if (reading.time_ns != 0) times_ns.push_back(reading.time_ns);  // an SM that got no CTA
    }
  }
  return static_cast<double>(smallest_step(std::move(times_ns))) * 1e-9;
}

}  // namespace

std::string driver_cuda_version() {
  int driver = 0, count = 0;
  if (is_stub(cudaGetDeviceCount(&count))) return "";
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

Result<int> gpu_count() {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess || count == 0) return tl::unexpected(no_gpu_error(code));
  return count;
}

Result<int> find_gpu(const std::string& gpu) {
  TRY_ASSIGN(const auto count, gpu_count());
  int ordinal = 0;
  const char* const end = gpu.data() + gpu.size();
  if (const auto parsed = std::from_chars(gpu.data(), end, ordinal); parsed.ec == std::errc() && parsed.ptr == end) {
    if (ordinal >= 0 && ordinal < count) return ordinal;
    return fail(ErrorKind::kEnvironment,
                fmt::format("there is no GPU {}: this machine shows {} (0 to {})", ordinal, count, count - 1));
  }
  std::string known;
  int found = -1;
  for (int i = 0; i < count; ++i) {
    TRY_ASSIGN(const auto properties, properties_of(i));
    const std::string uuid = uuid_of(properties);
    known += (known.empty() ? "" : ", ") + uuid;
    if (gpu.empty() || uuid.compare(0, gpu.size(), gpu) != 0) continue;
    if (found >= 0) return fail(ErrorKind::kUsage, fmt::format("'{}' fits more than one GPU: {}", gpu, known));
    found = i;
  }
  if (found >= 0) return found;
  return fail(ErrorKind::kEnvironment,
              fmt::format("no GPU is called '{}'; give a number from 0 to {} or one of {}", gpu, count - 1, known));
}

Result<DeviceInfo> describe_gpu(int ordinal) {
  TRY_ASSIGN(const auto properties, properties_of(ordinal));
  const cudaDeviceProp& p = properties;
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
  TRY_ASSIGN(const auto count, gpu_count());
  std::vector<DeviceInfo> gpus;
  for (int i = 0; i < count; ++i) {
    TRY_ASSIGN(auto info, describe_gpu(i));
    gpus.push_back(std::move(info));
  }
  return gpus;
}

std::uint64_t smallest_step(std::vector<std::uint64_t> readings) {
  std::sort(readings.begin(), readings.end());
  std::uint64_t smallest = 0;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    const std::uint64_t step = readings[i] - readings[i - 1];
    if (step != 0 && (smallest == 0 || step < smallest)) smallest = step;
  }
  return smallest;
}

Result<TimerFacts> check_timers(int ordinal) {
  TRY_ASSIGN(const auto info, describe_gpu(ordinal));
  // cudaFree(nullptr) creates the context, which the driver's functions need.
  const auto chosen = check(cudaSetDevice(ordinal), "choosing the GPU").and_then([] {
    return check(cudaFree(nullptr), "opening the GPU");
  });
  if (!chosen) return tl::unexpected(to_error(chosen.error()));
  TRY_ASSIGN(const auto driver, Driver::load());
  TRY_ASSIGN(const auto kernels, HelperKernels::load(driver, info.architecture, info.sm_count));
  const auto stream = create_stream();
  if (!stream) return tl::unexpected(to_error(stream.error()));
  const auto facts = event_floor_s(stream->get()).and_then([&](double floor_s) {
    return globaltimer_step_s(*kernels, info.sm_count, stream->get()).map([&](double step_s) {
      return TimerFacts{floor_s, step_s};
    });
  });
  if (!facts) return tl::unexpected(to_error(facts.error()));
  return *facts;
}

}  // namespace pgtune::gpu
