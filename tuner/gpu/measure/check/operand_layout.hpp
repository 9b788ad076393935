// SPDX-License-Identifier: MIT
// How the operands of a problem lie in memory: one set after the other, each buffer between guards. Pure arithmetic.
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
  std::vector<Extent> buffers;  ///< an absent one is where the one in its place is, or of no bytes
  std::vector<GuardZone> guards;
  std::int64_t copy_bytes = 0;

  [[nodiscard]] OperandSet at(std::uint64_t copy_address) const;
};

inline constexpr std::int64_t kBufferAlignment = 1024;
inline constexpr std::int64_t kGuardBytes = 4096;

/// What outputs, guards and padding hold before a launch: a quiet NaN no computation produces, in float32 as well as in
/// both halves as float16 and bfloat16, so reads of it show in results and writes over it are seen. Every other byte of
/// it is NaN as e4m3 and as e5m2. Integers have no NaN: there it is as odd a number as any, and what reads it adds it
/// up wrongly unless it multiplies it by zero.
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

/// Puts what kernels are given in the place of absent buffers there: `places` are in the order of the buffers.
template <typename Place>
void put_in_place_of_absent(const OperationProblem& operation, std::vector<Place>& places) {
  for (std::size_t i = 0; i < operation.buffers.size(); ++i) {
    const OperationBuffer& buffer = operation.buffers[i];
    if (buffer.absent && buffer.instead) places.at(i) = places.at(static_cast<std::size_t>(*buffer.instead));
  }
}

/// How many operand sets the timed launches rotate over, so that launches find next to nothing of their operands in L2:
/// enough that kRotatedL2s times the L2 passes before a set comes round again, one where a set alone is that large.
/// Capped by a quarter of the free memory and by kMaxCopies (tiny problems then stay in L2, whoever computes them).
[[nodiscard]] std::int64_t copy_count(std::int64_t operand_bytes, std::int64_t copy_bytes, std::int64_t l2_bytes,
                                      std::int64_t free_bytes);

/// Lines that are read once and evict first make room for each other, so that of a rotation a part as large as L2 may
/// outlast the turn and be found again: of four times L2 a quarter
/// (docs/explanation/measuring.md). Of 64 times it is
/// 1.6 % at most, where neither cap is met.
inline constexpr std::int64_t kRotatedL2s = 64;

inline constexpr std::int64_t kMaxCopies = 1024;

}  // namespace pgtune::gpu
