// SPDX-License-Identifier: MIT
// The operands that stream, in host memory of one kind, and the kinds that are held at a time.
#pragma once

#include <array>
#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "pipeline/plan/candidate.hpp"
#include "pipeline/plan/streamed_problem.hpp"
#include "pipeline/worker/host_buffer.hpp"
#include "pipeline/worker/host_copier.hpp"

namespace pgtune::gpu {

/// Empty buffers for matrices that do not stream.
struct HostOperands {
  std::array<HostBuffer, 3> matrices;  ///< by pipeline::Matrix
  [[nodiscard]] const HostBuffer& operator[](pipeline::Matrix matrix) const {
    return matrices[pipeline::index_of(matrix)];
  }
  [[nodiscard]] std::int64_t bytes() const { return matrices[0].bytes() + matrices[1].bytes() + matrices[2].bytes(); }
};

/// Which host memory a candidate streams from.
struct HostPlace {
  pipeline::HostMemory memory = pipeline::HostMemory::kPinned;
  std::optional<int> node = {};  ///< pipeline::Candidate::host_node
  friend auto operator<=>(const HostPlace&, const HostPlace&) = default;
};

/// Pageable operands are always there: the others are copied from them. What is pinned stays until another place needs
/// the room below the limit, or this object ends.
class HostOperandSets {
 public:
  HostOperandSets(const pipeline::StreamedProblem& streamed, std::int64_t pinned_limit_bytes)
      : streamed_(streamed), pinned_limit_bytes_(pinned_limit_bytes), copier_(default_copy_threads()) {}

  /// Allocates the pageable ones. A and B are for the caller to fill.
  [[nodiscard]] CudaResult<> allocate_pageable();
  [[nodiscard]] const HostOperands& pageable() const { return pageable_; }

  /// Those that candidates with such memory copy from and to: of kStaged the pageable ones, of kMapped the pinned.
  /// `ring_bytes`, of rings that live beside them, are to be left free below the limit. Valid until `release` is called
  /// with the same place (kPinned for kMapped), which happens in a later call that needs the room.
  using Release = std::function<void(const HostPlace&)>;
  [[nodiscard]] CudaResult<const HostOperands*> of(HostPlace place, std::int64_t ring_bytes, const Release& release);
  /// Every byte of D.
  static void poison_d(const HostOperands& operands, std::uint32_t pattern);
  [[nodiscard]] HostCopier& copier() { return copier_; }

 private:
  [[nodiscard]] std::int64_t pinned_bytes() const;
  void make_room(std::int64_t bytes, const Release& release);
  [[nodiscard]] CudaResult<HostOperands> copy_of_pageable(const HostPlace& place);

  pipeline::StreamedProblem streamed_;
  std::int64_t pinned_limit_bytes_;
  HostCopier copier_;
  HostOperands pageable_;
  struct Held {
    std::unique_ptr<HostOperands> operands;
    std::uint64_t used = 0;
  };
  std::map<HostPlace, Held> pinned_;
  std::uint64_t uses_ = 0;
};

}  // namespace pgtune::gpu
