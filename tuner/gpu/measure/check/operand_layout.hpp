// SPDX-License-Identifier: MIT
// The layout of a problem's operands in memory: one set after the other, each buffer between guards. Pure arithmetic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuner/gpu/launch/operand_set.hpp"
#include "tuner/model/operation_problem.hpp"

namespace pgtune::gpu {

/// Bytes relative to the start of a copy.
struct Extent {
  std::int64_t offset = 0, bytes = 0;
};

struct GuardZone {
  std::string place;  ///< for messages: "before A", "between A and B", "after D"
  bool around_result = false;
  Extent extent;
};

/// One copy: guard, buffer, guard, buffer, ..., guard. Buffers start at multiples of kBufferAlignment.
struct OperandLayout {
  std::vector<Extent> buffers;  ///< an absent one is at its replacement, or has no bytes
  std::vector<GuardZone> guards;
  std::int64_t copy_bytes = 0;

  [[nodiscard]] OperandSet at(std::uint64_t copy_address) const;
};

inline constexpr std::int64_t kBufferAlignment = 1024;
inline constexpr std::int64_t kGuardBytes = 4096;

/// The content of outputs, guards and padding before a launch: a quiet NaN that no computation produces, in float32 and
/// in both halves as float16 and bfloat16. Reads of it thus show in results, and writes over it are found. Every other
/// byte of it is NaN as e4m3 and as e5m2. Integers have no NaN: there it is an unusual number, and a read gives a wrong
/// sum unless it is multiplied by zero.
inline constexpr std::uint32_t kPoison = 0x7fc57fc5;
/// Another poison of the same kind for each launch of 64 in a row: kPoison for launch 0.
[[nodiscard]] constexpr std::uint32_t poison_of_launch(std::int64_t launch) {
  return kPoison ^ static_cast<std::uint32_t>(launch % 64) * 0x00010001U;
}
/// What an element of 1, 2 or 4 bytes at `address`, a multiple of them, is before a launch: its bits are the lowest.
[[nodiscard]] constexpr std::uint32_t poison_at(std::uint64_t address, std::int64_t bytes,
                                                std::uint32_t poison = kPoison) {
  return (poison >> 8 * (address % sizeof(poison))) & (~0U >> (32 - 8 * bytes));
}

[[nodiscard]] OperandLayout operand_layout(const OperationProblem& operation);

/// Inserts the replacements of absent buffers: `places` are in the order of the buffers.
template <typename Place>
void put_in_place_of_absent(const OperationProblem& operation, std::vector<Place>& places) {
  for (std::size_t i = 0; i < operation.buffers.size(); ++i) {
    const OperationBuffer& buffer = operation.buffers[i];
    if (buffer.absent && buffer.instead) places.at(i) = places.at(static_cast<std::size_t>(*buffer.instead));
  }
}

/// The number of operand sets for timed launches, such that launches find almost none of their operands in L2. It is
/// enough that kRotatedL2s times the L2 passes before a set is used again, and one if a set alone is that large.
/// Limited to a quarter of the free memory and by kMaxCopies (tiny problems then stay in L2 for all contenders).
[[nodiscard]] std::int64_t copy_count(std::int64_t operand_bytes, std::int64_t copy_bytes, std::int64_t l2_bytes,
                                      std::int64_t free_bytes);

/// Lines that are read once and evict first make room for each other, so that of a rotation a part as large as L2 may
/// outlast the turn and be found again: of four times L2 a quarter, of 64 times 1.6 % at most, where neither cap is met
/// (docs/results/evict-first.csv).
inline constexpr std::int64_t kRotatedL2s = 64;

inline constexpr std::int64_t kMaxCopies = 1024;

}  // namespace pgtune::gpu
