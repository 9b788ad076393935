// SPDX-License-Identifier: MIT
// Host memory of each kind for streaming, the operands in it, and the kinds that are allocated at a time.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "pipeline/exported/staging.hpp"
#include "pipeline/plan/candidate.hpp"
#include "pipeline/plan/streamed_problem.hpp"
#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/launch/operand_set.hpp"

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
  /// cudaErrorMemoryAllocation if the memory or the limit of pinned memory does not suffice; not sticky. `node`: only
  /// on that NUMA node, for kinds that CUDA does not allocate; an error if it has no room.
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

/// Empty buffers for matrices that do not stream.
struct HostOperands {
  std::array<HostBuffer, 3> matrices;  ///< by pipeline::Matrix
  [[nodiscard]] const HostBuffer& operator[](pipeline::Matrix matrix) const {
    return matrices[pipeline::index_of(matrix)];
  }
  [[nodiscard]] std::int64_t bytes() const { return matrices[0].bytes() + matrices[1].bytes() + matrices[2].bytes(); }
};

/// The host memory that a candidate streams from.
struct HostPlace {
  pipeline::HostMemory memory = pipeline::HostMemory::kPinned;
  std::optional<int> node = {};  ///< pipeline::Candidate::host_node
  friend auto operator<=>(const HostPlace&, const HostPlace&) = default;
};

/// Pageable operands always exist; the others are copied from them. Pinned memory stays until another place needs the
/// room below the limit, or this object ends.
class HostOperandSets {
 public:
  HostOperandSets(const pipeline::StreamedProblem& streamed, std::int64_t pinned_limit_bytes)
      : streamed_(streamed), pinned_limit_bytes_(pinned_limit_bytes) {}

  /// Allocates the pageable ones. A and B are for the caller to fill.
  [[nodiscard]] CudaResult<> allocate_pageable();
  [[nodiscard]] const HostOperands& pageable() const { return pageable_; }

  /// The operands for candidates with such memory: for kStaged the pageable ones, for kMapped the pinned ones. Leaves
  /// `ring_bytes` below the limit for rings. Valid until `release` is called with the same place (kPinned for kMapped),
  /// by a later call that needs the room.
  using Release = std::function<void(const HostPlace&)>;
  [[nodiscard]] CudaResult<const HostOperands*> of(HostPlace place, std::int64_t ring_bytes, const Release& release);
  /// Every byte of D.
  static void poison_d(const HostOperands& operands, std::uint32_t pattern);

 private:
  [[nodiscard]] std::int64_t pinned_bytes() const;
  void make_room(std::int64_t bytes, const Release& release);
  [[nodiscard]] CudaResult<HostOperands> copy_of_pageable(const HostPlace& place);

  pipeline::StreamedProblem streamed_;
  std::int64_t pinned_limit_bytes_;
  pgtune_pipeline::detail::Copier copier_;
  HostOperands pageable_;
  struct Held {
    std::unique_ptr<HostOperands> operands;
    std::uint64_t used = 0;
  };
  std::map<HostPlace, Held> pinned_;
  std::uint64_t uses_ = 0;
};

/// Copies with several threads, like programs with a ring; returns once all is copied.
void copy_bytes(pgtune_pipeline::detail::Copier& copier, std::byte* to, const std::byte* from, std::int64_t bytes);

/// Device memory of the operands that do not stream, by pipeline::Matrix; 0 for those that do.
using ResidentOperands = std::array<std::uint64_t, 3>;

/// The operands of a product D = A B.
[[nodiscard]] OperandSet product_operands(const DeviceSpan& a, const DeviceSpan& b, const DeviceSpan& d);

}  // namespace pgtune::gpu
