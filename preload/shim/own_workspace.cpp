// SPDX-License-Identifier: MIT
#include "preload/shim/own_workspace.hpp"

#include "preload/shim/real.hpp"
#include "preload/shim/relaxed_capture.hpp"

namespace pgtune::preload {
namespace {

constexpr const char* kDriver = "libcuda.so.1";
RealFunction create_pool{kDriver, "cuMemPoolCreate"}, set_attribute{kDriver, "cuMemPoolSetAttribute"},
    allocate_from{kDriver, "cuMemAllocFromPoolAsync"}, release{kDriver, "cuMemFreeAsync"};

void* pools[kMostDevices];

}  // namespace

bool make_workspace_pool(int device) {
  if (pools[device] != nullptr) return true;
  auto* const create = create_pool.get<int(void**, const PoolProperties*)>();
  auto* const set = set_attribute.get<int(void*, int, void*)>();
  if (create == nullptr || set == nullptr || allocate_from.get<void()>() == nullptr || release.get<void()>() == nullptr)
    return false;
  PoolProperties properties;
  properties.device = device;
  const RelaxedCapture relaxed;
  void* pool = nullptr;
  if (create(&pool, &properties) != 0) return false;
  // The default would give memory back to the device whenever the program waits.
  std::uint64_t kept = ~std::uint64_t{0};
  set(pool, kPoolReleaseThreshold, &kept);
  __atomic_store_n(&pools[device], pool, __ATOMIC_RELEASE);
  return true;
}

int OwnWorkspace::allocate(int device, std::size_t bytes, Stream stream) {
  auto* const function = allocate_from.get<int(std::uint64_t*, std::size_t, void*, Stream)>();
  const RelaxedCapture relaxed;
  const int result = function(&memory_, bytes, __atomic_load_n(&pools[device], __ATOMIC_ACQUIRE), stream);
  if (result != 0) memory_ = 0;
  stream_ = stream;
  return result;
}

OwnWorkspace::~OwnWorkspace() {
  if (memory_ != 0) release.get<int(std::uint64_t, Stream)>()(memory_, stream_);
}

}  // namespace pgtune::preload
