// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/guarded_memory.hpp"

#include "tuner/gpu/measure/check/operand_layout.hpp"

namespace pgtune::gpu {
namespace {

/// The current device, or cudaErrorNotSupported.
CudaResult<int> device_that_maps(const Driver& driver) {
  int device = 0, supported = 0;
  return check(cudaGetDevice(&device), "asking for the device")
      .and_then([&] {
        return check(
            driver.device_get_attribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device),
            "asking for virtual memory management");
      })
      .and_then([&]() -> CudaResult<int> {
        if (supported != 0) return device;
        return tl::unexpected(CudaFailure{cudaErrorNotSupported, cudaGetErrorName(cudaErrorNotSupported),
                                          "the GPU has no virtual memory management", "guarding buffers", false});
      });
}

}  // namespace

DeviceSpan place_at(const DeviceSpan& mapped, std::int64_t bytes, MemoryEdge edge, std::int64_t alignment) {
  const std::int64_t last = (mapped.bytes - bytes) / alignment * alignment;
  return {mapped.address + static_cast<std::uint64_t>(edge == MemoryEdge::kStart ? 0 : last), bytes};
}

std::array<DeviceSpan, 2> around(const DeviceSpan& mapped, const DeviceSpan& buffer) {
  const auto before = static_cast<std::int64_t>(buffer.address - mapped.address);
  const std::uint64_t end = buffer.address + static_cast<std::uint64_t>(buffer.bytes);
  return {DeviceSpan{mapped.address, before}, DeviceSpan{end, mapped.bytes - before - buffer.bytes}};
}

/// Its destructor undoes the completed steps.
class GuardedMemory::Mapping {
 public:
  explicit Mapping(const Driver& driver) : driver_(&driver) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    // Unlike cudaFree(), unmapping does not wait for launches that use the memory.
    if (mapped_) static_cast<void>(cudaDeviceSynchronize());
    if (mapped_) static_cast<void>(driver_->memory_unmap(address_, static_cast<std::size_t>(bytes_)));
    if (created_) static_cast<void>(driver_->memory_release(memory_));
    if (reserved_ != 0) static_cast<void>(driver_->address_free(reserved_, reserved_bytes()));
  }

  [[nodiscard]] CudaResult<> map(int device, std::int64_t wanted_bytes) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device;
    std::size_t granularity = 0;
    if (auto ok = check(driver_->memory_granularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
                        "asking for the granularity of memory");
        !ok) {
      return ok;
    }
    const auto granule = static_cast<std::int64_t>(granularity);
    const auto whole = [granule](std::int64_t bytes) { return (bytes + granule - 1) / granule * granule; };
    bytes_ = whole(wanted_bytes);
    unmapped_bytes_ = whole(kUnmappedBytes);
    if (auto ok = check(driver_->address_reserve(&reserved_, reserved_bytes(), 0, 0, 0), "reserving addresses"); !ok) {
      return ok;
    }
    address_ = reserved_ + static_cast<CUdeviceptr>(unmapped_bytes_);
    if (auto ok = check(driver_->memory_create(&memory_, static_cast<std::size_t>(bytes_), &properties, 0),
                        "allocating guarded memory");
        !ok) {
      return ok;
    }
    created_ = true;
    if (auto ok = check(driver_->memory_map(address_, static_cast<std::size_t>(bytes_), 0, memory_, 0),
                        "mapping guarded memory");
        !ok) {
      return ok;
    }
    mapped_ = true;
    CUmemAccessDesc access{};
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return check(driver_->memory_set_access(address_, static_cast<std::size_t>(bytes_), &access, 1),
                 "opening guarded memory");
  }

  [[nodiscard]] DeviceSpan span() const { return {address_, bytes_}; }

 private:
  [[nodiscard]] std::size_t reserved_bytes() const { return static_cast<std::size_t>(bytes_ + 2 * unmapped_bytes_); }

  const Driver* driver_;
  CUdeviceptr reserved_ = 0, address_ = 0;
  CUmemGenericAllocationHandle memory_ = 0;
  std::int64_t bytes_ = 0, unmapped_bytes_ = 0;
  bool created_ = false, mapped_ = false;
};

void GuardedMemory::Release::operator()(Mapping* mapping) const noexcept { delete mapping; }

CudaResult<GuardedMemory> GuardedMemory::allocate(const Driver& driver, std::int64_t bytes, std::int64_t alignment) {
  GuardedMemory memory;
  if (bytes == 0) return memory;
  TRY_ASSIGN(const auto device, device_that_maps(driver));
  memory.mapping_.reset(new Mapping(driver));
  memory.bytes_ = bytes;
  memory.alignment_ = alignment;
  TRY(memory.mapping_->map(device, bytes + kGuardBytes));
  return memory;
}

DeviceSpan GuardedMemory::mapped() const { return mapping_ == nullptr ? DeviceSpan{} : mapping_->span(); }

}  // namespace pgtune::gpu
