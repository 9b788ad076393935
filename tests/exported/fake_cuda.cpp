// SPDX-License-Identifier: MIT
#include "tests/exported/fake_cuda.hpp"

#include <cuda.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <set>
#include <span>

#undef cuStreamGetCtx
#undef cuMemsetD8Async
#undef cuLaunchKernelEx
#undef cuMemsetD8
#undef cuMemsetD16
#undef cuMemcpyDtoH
#undef cuStreamSynchronize

namespace {

constexpr int kMaxDevices = 4;

struct Context {
  int device = 0;
};
struct Stream {
  Context* context = nullptr;
};
struct Kernel {
  std::string symbol;
};

std::array<Context, kMaxDevices> primary{{{0}, {1}, {2}, {3}}}, others{{{0}, {1}, {2}, {3}}};
std::array<int, kMaxDevices> primary_users{};  // that retain it
std::array<Stream, kMaxDevices> primary_streams{{{&primary[0]}, {&primary[1]}, {&primary[2]}, {&primary[3]}}},
    other_streams{{{&others[0]}, {&others[1]}, {&others[2]}, {&others[3]}}};
thread_local std::vector<Context*> stack;
thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
FakeCuda fake;
std::deque<Kernel> kernels;
std::set<CUdeviceptr> allocated;  ///< the host's memory; other addresses are never read or written

Context* current() { return stack.empty() ? nullptr : stack.back(); }

/// What a capture does not allow.
CUresult unsafe() {
  if (!fake.capturing || mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  fake.capture_broken = true;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

/// How the fake keeps a tensor map in its 128 bytes.
struct Map {
  std::uint64_t address;
  std::uint64_t dims[5], strides[4];
  std::uint32_t box[5];
  std::uint8_t type, rank, swizzle, promotion;
};
static_assert(sizeof(Map) <= sizeof(CUtensorMap));

std::string text_of(const Map& map) {
  const auto rank = static_cast<std::size_t>(map.rank);
  return fmt::format("map({:#x} type {} dims {} strides {} box {} swizzle {} promotion {})", map.address, map.type,
                     fmt::join(std::span(map.dims).first(rank), ","),
                     fmt::join(std::span(map.strides).first(rank - 1), ","),
                     fmt::join(std::span(map.box).first(rank), ","), map.swizzle, map.promotion);
}

template <typename T>
T read(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::string argument_text(char kind, const void* from) {
  switch (kind) {
    case 'p':
      return fmt::format("{:#x}", read<std::uint64_t>(from));
    case 'm':
      return text_of(read<Map>(from));
    case 'i':
      return std::to_string(read<std::int32_t>(from));
    case 'l':
      return std::to_string(read<std::int64_t>(from));
    default:
      return fmt::format("{}f", read<float>(from));
  }
}

void record(std::string line) {
  const std::lock_guard lock(fake.mutex);
  fake.log.push_back(std::move(line));
}

}  // namespace

extern "C" {

FakeCuda* fake_cuda() { return &fake; }
void* fake_stream(int device, bool own) {
  return own ? &other_streams[static_cast<std::size_t>(device)] : &primary_streams[static_cast<std::size_t>(device)];
}

void fake_new_context(int device) {
  static std::deque<Context> further;
  stack.assign(1, &further.emplace_back(Context{device}));
}

CUresult cuInit(unsigned) { return static_cast<CUresult>(fake.init_result); }
CUresult cuDriverGetVersion(int* version) {
  *version = fake.version;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (ordinal >= fake.devices) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int length, CUdevice) {
  std::strncpy(name, fake.name.c_str(), static_cast<std::size_t>(length));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = fake.arch / 10;
      return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *value = fake.arch % 10;
      return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = fake.sm_count;
      return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      *value = 232448;
      return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      *value = 233472;
      return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      *value = 65536;
      return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      *value = 52428800;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}
CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice) {
  *bytes = fake.memory_bytes;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* is_active) {
  *flags = 0;
  *is_active = primary_users[static_cast<std::size_t>(device)] > 0 ? 1 : 0;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  int& users = primary_users[static_cast<std::size_t>(device)];
  if (users == 0) return CUDA_ERROR_INVALID_CONTEXT;
  --users;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  ++primary_users[static_cast<std::size_t>(device)];
  *context = reinterpret_cast<CUcontext>(&primary[static_cast<std::size_t>(device)]);
  return unsafe();
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = reinterpret_cast<CUcontext>(current());
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  if (current() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *device = current()->device;
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent_v2(CUcontext context) {
  stack.push_back(reinterpret_cast<Context*>(context));
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  *context = reinterpret_cast<CUcontext>(current());
  stack.pop_back();
  return CUDA_SUCCESS;
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* other) {
  std::swap(mode, *other);
  return CUDA_SUCCESS;
}
CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option*, void**, unsigned, CUlibraryOption*,
                           void**, unsigned) {
  if (const CUresult result = unsafe(); result != CUDA_SUCCESS) return result;
  ++fake.loads;
  const std::lock_guard lock(fake.mutex);
  fake.images.emplace_back(static_cast<const char*>(code), fake.image_bytes);
  *library = reinterpret_cast<CUlibrary>(const_cast<void*>(code));
  return static_cast<CUresult>(fake.load_result);
}
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary, const char* name) {
  if (fake.missing == name) return CUDA_ERROR_NOT_FOUND;
  const std::lock_guard lock(fake.mutex);
  kernels.push_back({name});
  *kernel = reinterpret_cast<CUkernel>(&kernels.back());
  return CUDA_SUCCESS;
}
CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  if (current() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *function = reinterpret_cast<CUfunction>(kernel);
  return unsafe();
}
CUresult cuKernelGetAttribute(int* value, CUfunction_attribute, CUkernel, CUdevice) {
  *value = 1024;
  return CUDA_SUCCESS;
}
CUresult cuKernelSetAttribute(CUfunction_attribute, int value, CUkernel, CUdevice) {
  return value == 232448 - 1024 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuFuncLoad(CUfunction) {
  ++fake.kernels_loaded;
  return unsafe();
}
CUresult cuTensorMapEncodeTiled(CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  ++fake.encodes;
  if (fake.encode_result != 0) return static_cast<CUresult>(fake.encode_result);
  Map map{};
  map.address = reinterpret_cast<std::uintptr_t>(address);
  if (map.address % 16 != 0 || interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
    return CUDA_ERROR_INVALID_VALUE;
  for (cuuint32_t i = 0; i < rank; ++i) {
    if (steps[i] != 1) return CUDA_ERROR_INVALID_VALUE;
    map.dims[i] = dims[i];
    map.box[i] = box[i];
    if (i + 1 == rank) continue;
    if (strides[i] == 0 || strides[i] % 16 != 0) return CUDA_ERROR_INVALID_VALUE;
    map.strides[i] = strides[i];
  }
  map.type = static_cast<std::uint8_t>(type);
  map.rank = static_cast<std::uint8_t>(rank);
  map.swizzle = static_cast<std::uint8_t>(swizzle);
  map.promotion = static_cast<std::uint8_t>(promotion);
  std::memcpy(static_cast<void*>(out), &map, sizeof map);
  return CUDA_SUCCESS;
}
CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  ++fake.replacements;
  const auto bits = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(address));
  if (bits % 16 != 0) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(static_cast<void*>(map), &bits, sizeof bits);
  return CUDA_SUCCESS;
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  if (stream == nullptr && current() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *context = reinterpret_cast<CUcontext>(stream == nullptr ? current() : reinterpret_cast<Stream*>(stream)->context);
  return CUDA_SUCCESS;
}
CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, std::size_t bytes, CUstream stream) {
  if (current() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  ++fake.memsets;
  fake.memset_stream = stream;
  if (allocated.contains(address)) std::fill_n(reinterpret_cast<unsigned char*>(address), bytes, value);
  record(fmt::format("memset {:#x} {} {}", address, value, bytes));
  return CUDA_SUCCESS;
}
// What the examples call themselves: the device's memory is the host's.
CUresult cuCtxSetCurrent(CUcontext context) {
  stack.assign(1, reinterpret_cast<Context*>(context));
  return CUDA_SUCCESS;
}
CUresult cuStreamCreate(CUstream* stream, unsigned) {
  *stream = static_cast<CUstream>(fake_stream(current()->device, false));
  return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream) { return CUDA_SUCCESS; }
CUresult cuStreamDestroy_v2(CUstream) { return CUDA_SUCCESS; }
CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  constexpr std::size_t kAlignment = 256;
  void* const memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  *address = reinterpret_cast<CUdeviceptr>(memory);
  allocated.insert(*address);
  return memory == nullptr ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}
CUresult cuMemFree_v2(CUdeviceptr address) {
  allocated.erase(address);
  std::free(reinterpret_cast<void*>(address));
  return CUDA_SUCCESS;
}
// Of a pool: addresses that nothing reads.
CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps*) {
  *pool = reinterpret_cast<CUmemoryPool>(&fake);
  return unsafe();
}
CUresult cuMemPoolSetAttribute(CUmemoryPool, CUmemPool_attribute, void*) { return CUDA_SUCCESS; }
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool, CUstream stream) {
  constexpr CUdeviceptr kPooled = 0x70000000;
  const Context* const context = stream == nullptr ? current() : reinterpret_cast<Stream*>(stream)->context;
  if (context < primary.data() || context >= primary.data() + primary.size()) return CUDA_ERROR_INVALID_CONTEXT;
  if (bytes > fake.pool_bytes) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = kPooled;
  ++fake.pooled;
  return CUDA_SUCCESS;
}
CUresult cuMemFreeAsync(CUdeviceptr, CUstream) {
  --fake.pooled;
  return CUDA_SUCCESS;
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  if (stream == nullptr && current() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *status = fake.capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult cuMemsetD8_v2(CUdeviceptr address, unsigned char value, std::size_t count) {
  std::fill_n(reinterpret_cast<unsigned char*>(address), count, value);
  return CUDA_SUCCESS;
}
CUresult cuMemsetD16_v2(CUdeviceptr address, unsigned short value, std::size_t count) {
  std::fill_n(reinterpret_cast<unsigned short*>(address), count, value);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  constexpr CUdeviceptr kLowest = 65536;  // nothing is mapped below it
  if (from < kLowest) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra) {
  if (extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (fake.launch_result != 0) return static_cast<CUresult>(fake.launch_result);
  ++fake.launches;
  const Kernel& kernel = *reinterpret_cast<Kernel*>(function);
  std::string line =
      fmt::format("{} grid {} {} {} block {} {} {} smem {}", kernel.symbol, config->gridDimX, config->gridDimY,
                  config->gridDimZ, config->blockDimX, config->blockDimY, config->blockDimZ, config->sharedMemBytes);
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      line += fmt::format(" cluster {} {} {}", attribute.value.clusterDim.x, attribute.value.clusterDim.y,
                          attribute.value.clusterDim.z);
    else if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
      line += " overlaps";
    else if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      line += " co-resident";
    else
      return CUDA_ERROR_INVALID_VALUE;
  }
  const auto signature = fake.signatures.find(kernel.symbol);
  if (signature != fake.signatures.end()) {
    for (std::size_t i = 0; i < signature->second.size(); ++i)
      line += " " + argument_text(signature->second[i], arguments[i]);
  }
  record(std::move(line));
  return CUDA_SUCCESS;
}

}  // extern "C"
