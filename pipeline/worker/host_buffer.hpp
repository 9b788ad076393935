// SPDX-License-Identifier: MIT
// Host memory of each kind that a pipeline can stream from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "tuner/gpu/launch/cuda_failure.hpp"

namespace pgtune::gpu {

enum class HostKind { kPageable, kPinned, kRegistered, kWriteCombined };

struct HostRelease {
  HostKind kind = HostKind::kPageable;
  std::size_t mapped_bytes = 0;  ///< of memory that is not from the heap
  void operator()(std::byte* memory) const noexcept;
};

/// Page-aligned and touched. Empty when default-constructed or of 0 bytes.
class HostBuffer {
 public:
  HostBuffer() = default;
  /// cudaErrorMemoryAllocation where the memory or what may be pinned of it does not suffice; not sticky. `node`: on
  /// that NUMA node alone, of kinds that CUDA does not allocate; where it has no room, that is an error too.
  [[nodiscard]] static CudaResult<HostBuffer> allocate(HostKind kind, std::int64_t bytes,
                                                       std::optional<int> node = std::nullopt);

  [[nodiscard]] std::byte* data() const { return memory_.get(); }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  /// The same memory for kernels.
  [[nodiscard]] std::uint64_t device_address() const { return reinterpret_cast<std::uint64_t>(memory_.get()); }

 private:
  std::unique_ptr<std::byte, HostRelease> memory_;
  std::int64_t bytes_ = 0;
};

}  // namespace pgtune::gpu
