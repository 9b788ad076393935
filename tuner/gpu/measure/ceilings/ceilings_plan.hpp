// SPDX-License-Identifier: MIT
// How much the kernels of ceilings.cu move and compute on this GPU. Pure.
#pragma once

#include <cstdint>

#include "tuner/model/records.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

// What one CTA does, as in ceilings.cu.
inline constexpr std::int64_t kCopyThreads = 256, kCopyCtaBytes = 16 << 10;
inline constexpr std::int64_t kCeilingThreads = 1024;  ///< of the kernels for L2, shared memory and arithmetic
inline constexpr std::int64_t kL2PieceBytes = 64 << 10;
inline constexpr std::int64_t kSmemBytesPerIteration = 16 * 16;  ///< of a thread
inline constexpr std::int64_t kFfmasPerIteration = 16 * 16;

struct CeilingsPlan {
  std::int64_t copy_bytes = 0;  ///< of the copy's source, and of its destination
  std::int64_t copy_ctas = 0;
  std::int64_t l2_region_bytes = 0;  ///< the start of the copy's source
  std::int64_t l2_pieces = 0;
  std::int64_t l2_steps = 0;         ///< pieces each CTA reads in a launch
  std::int64_t resident_ctas = 0;    ///< CTAs of kCeilingThreads that fill the GPU once
  std::int64_t smem_iterations = 0;  ///< of the reads of shared memory, in a launch
  std::int64_t iterations = 0;       ///< of the arithmetic, in a launch

  /// Bytes read plus bytes written by a launch of the copy.
  [[nodiscard]] double dram_bytes() const;
  /// Bytes a launch reads through L2.
  [[nodiscard]] double l2_bytes() const;
  /// Bytes a launch reads from shared memory.
  [[nodiscard]] double smem_bytes() const;
  /// A fused multiply-add counts as two.
  [[nodiscard]] double flops() const;
};

/// The copy's buffers are 1 GiB each, or 4 times L2 where that is more; on a GPU with less than twice that free, as
/// much as half of it allows. The region in L2 is a third of it. Errors (usage): not even 4 times L2 fits in both
/// together.
[[nodiscard]] Result<CeilingsPlan> plan_ceilings(const DeviceInfo& device, std::int64_t free_bytes);

}  // namespace pgtune::gpu
