// SPDX-License-Identifier: MIT
// The CUDA driver, opened at run time so that nothing has to be linked, and what prepare() leaves for the calls.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "exported/tables.hpp"

namespace pgtune_export::detail {

/// Entry points. Plain names are the ones whose null stream is the legacy default stream.
struct Driver {
  CUresult (*init)(unsigned) = nullptr;
  CUresult (*driver_version)(int*) = nullptr;
  CUresult (*device_get)(CUdevice*, int) = nullptr;
  CUresult (*device_name)(char*, int, CUdevice) = nullptr;
  CUresult (*device_attribute)(int*, CUdevice_attribute, CUdevice) = nullptr;
  CUresult (*device_memory)(std::size_t*, CUdevice) = nullptr;
  CUresult (*primary_context)(CUcontext*, CUdevice) = nullptr;
  CUresult (*context_get)(CUcontext*) = nullptr;
  CUresult (*context_device)(CUdevice*) = nullptr;
  CUresult (*context_push)(CUcontext) = nullptr;
  CUresult (*context_pop)(CUcontext*) = nullptr;
  CUresult (*capture_mode)(CUstreamCaptureMode*) = nullptr;
  CUresult (*library_load)(CUlibrary*, const void*, CUjit_option*, void**, unsigned, CUlibraryOption*, void**,
                           unsigned) = nullptr;
  CUresult (*library_kernel)(CUkernel*, CUlibrary, const char*) = nullptr;
  CUresult (*kernel_function)(CUfunction*, CUkernel) = nullptr;
  CUresult (*kernel_attribute)(int*, CUfunction_attribute, CUkernel, CUdevice) = nullptr;
  CUresult (*kernel_set_attribute)(CUfunction_attribute, int, CUkernel, CUdevice) = nullptr;
  CUresult (*function_load)(CUfunction) = nullptr;  ///< drivers before 12.4 have none
  CUresult (*encode_map)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                         const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                         CUtensorMapL2promotion, CUtensorMapFloatOOBfill) = nullptr;
  CUresult (*replace_address)(CUtensorMap*, void*) = nullptr;
  CUresult (*stream_context)(CUstream, CUcontext*) = nullptr;
  CUresult (*set_bytes)(CUdeviceptr, unsigned char, std::size_t, CUstream) = nullptr;
  CUresult (*launch)(const CUlaunchConfig*, CUfunction, void**, void**) = nullptr;
};

constexpr int kMaxDevices = 64, kMaxContexts = 8;

/// Memory of malloc().
struct Bytes {
  Bytes() = default;
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() { std::free(data); }
  bool allocate(std::size_t count) noexcept {
    std::free(data);
    data = static_cast<char*>(std::malloc(count));
    size = data == nullptr ? 0 : count;
    return data != nullptr;
  }
  char* data = nullptr;
  std::size_t size = 0;
};

/// A device that prepare() has seen. Written under the mutex before `ready`, read without it after.
struct Device {
  std::atomic<bool> ready{false};
  CUdevice handle = 0;
  int device_class = -1;  ///< of kDeviceClasses; -1: none of them
  int arch = 0, sm_count = 0, smem_limit = 0, smem_per_sm = 0, registers_per_sm = 0, l2_bytes = 0;
  std::atomic<CUcontext> contexts[kMaxContexts] = {};  ///< in which every kernel is loaded

  bool loaded_in(CUcontext context) const noexcept {
    for (const std::atomic<CUcontext>& known : contexts) {
      if (known.load(std::memory_order_acquire) == context) return true;
    }
    return false;
  }
};

/// Of the process, for ever: kernels are not unloaded, because at exit the driver may be gone first.
struct State {
  std::mutex mutex;
  Driver driver;
  bool opened = false;
  CUlibrary libraries[kImageCount] = {};
  CUkernel kernels[kImageCount][kMaxSymbols] = {};
  Device devices[kMaxDevices];
};
inline State state;
inline thread_local int last_error = 0;

inline Status failed(CUresult code) noexcept {
  last_error = static_cast<int>(code);
  return Status::cuda_error;
}

template <typename Function>
bool look_up(void* library, const char* name, Function& function) noexcept {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

inline Status open_driver(Driver& d) noexcept {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr || !look_up(library, "cuInit", d.init) ||
      !look_up(library, "cuDriverGetVersion", d.driver_version))
    return Status::no_driver;
  if (const CUresult code = d.init(0); code != CUDA_SUCCESS) {
    failed(code);
    return Status::no_driver;
  }
  int version = 0;
  if (const CUresult code = d.driver_version(&version); code != CUDA_SUCCESS) return failed(code);
  if (version < kBuild.least_driver) return Status::driver_too_old;
  look_up(library, "cuFuncLoad", d.function_load);
  const bool complete =
      look_up(library, "cuDeviceGet", d.device_get) && look_up(library, "cuDeviceGetName", d.device_name) &&
      look_up(library, "cuDeviceGetAttribute", d.device_attribute) &&
      look_up(library, "cuDeviceTotalMem_v2", d.device_memory) &&
      look_up(library, "cuDevicePrimaryCtxRetain", d.primary_context) &&
      look_up(library, "cuCtxGetCurrent", d.context_get) && look_up(library, "cuCtxGetDevice", d.context_device) &&
      look_up(library, "cuCtxPushCurrent_v2", d.context_push) &&
      look_up(library, "cuCtxPopCurrent_v2", d.context_pop) &&
      look_up(library, "cuThreadExchangeStreamCaptureMode", d.capture_mode) &&
      look_up(library, "cuLibraryLoadData", d.library_load) &&
      look_up(library, "cuLibraryGetKernel", d.library_kernel) &&
      look_up(library, "cuKernelGetFunction", d.kernel_function) &&
      look_up(library, "cuKernelGetAttribute", d.kernel_attribute) &&
      look_up(library, "cuKernelSetAttribute", d.kernel_set_attribute) &&
      look_up(library, "cuTensorMapEncodeTiled", d.encode_map) &&
      look_up(library, "cuTensorMapReplaceAddress", d.replace_address) &&
      look_up(library, "cuStreamGetCtx", d.stream_context) && look_up(library, "cuMemsetD8Async", d.set_bytes) &&
      look_up(library, "cuLaunchKernelEx", d.launch);
  return complete ? Status::ok : Status::driver_too_old;
}

inline bool runs_on(const Image& image, int arch) noexcept {
  if (kCompiledHere) return true;
  return image.only_arch ? image.arch == arch : image.arch / 10 == arch / 10 && image.arch <= arch;
}

inline bool same_text(const char* a, const char* b) noexcept {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}

inline Status read_device(const Driver& d, Device& device) noexcept {
  const auto read = [&](CUdevice_attribute attribute, int& value) {
    const CUresult code = d.device_attribute(&value, attribute, device.handle);
    if (code != CUDA_SUCCESS) failed(code);
    return code == CUDA_SUCCESS;
  };
  int major = 0, minor = 0;
  char name[256] = {};
  if (!read(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, major) ||
      !read(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, minor) ||
      !read(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device.sm_count) ||
      !read(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device.smem_limit) ||
      !read(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, device.smem_per_sm) ||
      !read(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, device.registers_per_sm) ||
      !read(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device.l2_bytes))
    return Status::cuda_error;
  if (const CUresult code = d.device_name(name, sizeof name - 1, device.handle); code != CUDA_SUCCESS)
    return failed(code);
  std::size_t memory = 0;
  if (const CUresult code = d.device_memory(&memory, device.handle); code != CUDA_SUCCESS) return failed(code);
  const std::size_t memory_gib = (memory + (std::size_t{1} << 29)) >> 30;
  device.arch = 10 * major + minor;
  device.device_class = -1;
  for (int i = 0; i < kDeviceClassCount; ++i) {
    const DeviceClass& known = kDeviceClasses[i];
    if (kClassArchs[i] == device.arch && known.sm_count == device.sm_count && same_text(known.name, name) &&
        (known.memory_gib == 0 || static_cast<std::size_t>(known.memory_gib) == memory_gib))
      device.device_class = i;
  }
  for (const Image& image : kImages) {
    if (runs_on(image, device.arch)) return Status::ok;
  }
  return Status::wrong_device;
}

/// Fills in state.libraries[number]. Null after ok: that image is none for the device. Precondition: the mutex is held.
inline Status load_image(const Driver& d, int number, const Device& device) noexcept;

/// Loads what runs on the device, in the current context.
inline Status load_images(const Driver& d, const Device& device) noexcept {
  bool any = false;
  for (int i = 0; i < kImageCount; ++i) {
    const Image& image = kImages[i];
    if (!runs_on(image, device.arch)) continue;
    if (state.libraries[i] == nullptr) {
      if (const Status status = load_image(d, i, device); status != Status::ok) return status;
      if (state.libraries[i] == nullptr) continue;  // it could not be compiled for the device
    }
    any = true;
    for (int s = 0; s < image.symbol_count; ++s) {
      CUkernel kernel = state.kernels[i][s];
      if (kernel == nullptr) {
        const CUresult code = d.library_kernel(&kernel, state.libraries[i], image.symbols[s]);
        if (code == CUDA_ERROR_NOT_FOUND) continue;  // compiled out: it stays null, which other threads may be reading
        if (code != CUDA_SUCCESS) return failed(code);
        state.kernels[i][s] = kernel;
      }
      int smem = 0;
      CUresult code = d.kernel_attribute(&smem, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel, device.handle);
      if (code == CUDA_SUCCESS)
        code = d.kernel_set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, device.smem_limit - smem, kernel,
                                      device.handle);
      // Kernels are loaded into a context when they are first needed, which must not happen in a capture.
      CUfunction function = nullptr;
      if (code == CUDA_SUCCESS) code = d.kernel_function(&function, kernel);
      if (code == CUDA_SUCCESS && d.function_load != nullptr) code = d.function_load(function);
      if (code != CUDA_SUCCESS) return failed(code);
    }
  }
  return any ? Status::ok : Status::not_compiled;
}

/// Precondition: the mutex is held.
inline Status prepare_in_context(const Driver& d, Device& device, CUcontext context) noexcept {
  if (device.loaded_in(context)) return Status::ok;
  std::atomic<CUcontext>* place = nullptr;
  for (std::atomic<CUcontext>& known : device.contexts) {
    if (place == nullptr && known.load(std::memory_order_relaxed) == nullptr) place = &known;
  }
  if (place == nullptr) return Status::not_supported;
  if (const Status status = load_images(d, device); status != Status::ok) return status;
  place->store(context, std::memory_order_release);
  device.ready.store(true, std::memory_order_release);
  return Status::ok;
}

/// Precondition: the mutex is held.
inline Status prepare_device(int ordinal) noexcept {
  if (!state.opened) {
    if (const Status status = open_driver(state.driver); status != Status::ok) return status;
    state.opened = true;
  }
  const Driver& d = state.driver;
  Device& device = state.devices[ordinal];
  // A capture in this thread stays valid whatever is loaded here.
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  if (const CUresult code = d.capture_mode(&mode); code != CUDA_SUCCESS) return failed(code);
  Status status = Status::ok;
  if (!device.ready.load(std::memory_order_relaxed)) {
    const CUresult code = d.device_get(&device.handle, ordinal);
    if (code == CUDA_ERROR_INVALID_DEVICE) {
      failed(code);
      status = Status::invalid_argument;
    } else {
      status = code == CUDA_SUCCESS ? read_device(d, device) : failed(code);
    }
  }
  if (status == Status::ok) {
    CUcontext context = nullptr;
    CUdevice current = -1;
    const bool there = d.context_get(&context) == CUDA_SUCCESS && context != nullptr &&
                       d.context_device(&current) == CUDA_SUCCESS && current == device.handle;
    if (there) {
      status = prepare_in_context(d, device, context);
    } else {
      CUresult code = d.primary_context(&context, device.handle);
      if (code == CUDA_SUCCESS) code = d.context_push(context);
      status = code == CUDA_SUCCESS ? prepare_in_context(d, device, context) : failed(code);
      if (code == CUDA_SUCCESS) d.context_pop(&context);
    }
  }
  d.capture_mode(&mode);
  return status;
}

}  // namespace pgtune_export::detail
