// SPDX-License-Identifier: MIT
// Pointers into a buffer of an operation, which its kernels are given as an array: batched products, tables of pages.
// Whoever places the buffers writes the addresses; here it says which element each pointer leads to, as plain numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/util/fields.hpp"
#include "tuner/util/result.hpp"

namespace pgtune {

struct OperationProblem;
struct OperationBuffer;

inline constexpr std::int64_t kPointerBytes = 8;
/// Of an array, and of the runs that they are said in: a problem is sent, stored and compared as text.
inline constexpr std::int64_t kMaxPointers = 65536;
inline constexpr std::size_t kMaxPointerRuns = 1024;

/// Pointers that follow one another, each `step` elements behind the one before it, `count` of them; and so again from
/// `stride` elements further on, `repeats` times in all.
struct PointerRun {
  std::int64_t first = 0, step = 0, count = 0, stride = 0, repeats = 1;

  PGTUNE_FIELDS(first, step, count, stride, repeats)
  friend bool operator==(const PointerRun&, const PointerRun&) = default;
};

struct PointerArray {
  std::int64_t buffer = 0;     ///< index of the one that they point into
  std::int64_t alignment = 1;  ///< bytes that every address is promised to be a multiple of; a power of two up to 256
  std::vector<PointerRun> runs;

  PGTUNE_FIELDS(buffer, alignment, runs)
  friend bool operator==(const PointerArray&, const PointerArray&) = default;
};

/// Few runs that say the same: those that a walk from the first to the last finds, and their repetitions.
[[nodiscard]] std::vector<PointerRun> runs_of(const std::vector<std::int64_t>& elements);

/// Checks a buffer that is such an array. Errors (usage): more or fewer pointers than it has elements, one that leaves
/// its buffer, or is aligned to less than is promised, pointers to pointers.
[[nodiscard]] Result<void> check_pointers(const OperationBuffer& array, const OperationProblem& problem);

}  // namespace pgtune
