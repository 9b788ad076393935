// SPDX-License-Identifier: MIT
// Device memory with nothing mapped around it, so that an access far outside of a buffer faults.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/launch/operand_set.hpp"

namespace pgtune::gpu {

/// The end of the mapped memory at which a buffer is. At the start, every access before the buffer faults; at the end,
/// every access after it, except for the bytes that kGuardedAlignment leaves.
enum class MemoryEdge { kStart, kEnd };

/// Of a buffer at the end of its memory: what launch plans may count on.
inline constexpr std::int64_t kGuardedAlignment = 256;
/// Addresses without memory on either side of each mapping.
inline constexpr std::int64_t kUnmappedBytes = std::int64_t{1} << 30;

/// The position of a buffer of `bytes` in `mapped`; at the end it is as close to it as an alignment to `alignment`
/// bytes permits.
[[nodiscard]] DeviceSpan place_at(const DeviceSpan& mapped, std::int64_t bytes, MemoryEdge edge,
                                  std::int64_t alignment = kGuardedAlignment);
/// The parts of `mapped` before and after `buffer`; either may be empty.
[[nodiscard]] std::array<DeviceSpan, 2> around(const DeviceSpan& mapped, const DeviceSpan& buffer);

/// Memory for one buffer, with kGuardBytes at least to spare, which lie behind a buffer at the start and before one at
/// the end. Nothing mapped and 0 bytes when default-constructed.
class GuardedMemory {
 public:
  GuardedMemory() = default;
  /// cudaErrorNotSupported if the device cannot map memory itself, cudaErrorMemoryAllocation if the memory does not
  /// suffice; neither is sticky. `driver` must outlive the result.
  [[nodiscard]] static CudaResult<GuardedMemory> allocate(const Driver& driver, std::int64_t bytes,
                                                          std::int64_t alignment = kGuardedAlignment);

  [[nodiscard]] DeviceSpan mapped() const;
  [[nodiscard]] DeviceSpan at(MemoryEdge edge) const { return place_at(mapped(), bytes_, edge, alignment_); }

 private:
  class Mapping;
  struct Release {
    void operator()(Mapping* mapping) const noexcept;
  };

  std::unique_ptr<Mapping, Release> mapping_;
  std::int64_t bytes_ = 0;  ///< of the buffer
  std::int64_t alignment_ = kGuardedAlignment;
};

}  // namespace pgtune::gpu
