// SPDX-License-Identifier: MIT
// What an operation's flops and bytes take from the data that its buffers are filled with: how many rows a mask leaves,
// how many groups are not empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tuner/util/fields.hpp"
#include "tuner/util/named_enum.hpp"

namespace pgtune {

/// Counts that an operation may have.
inline constexpr std::size_t kMaxCounts = 16;

/// Of a buffer's elements: their sum, how many are above a bound, or not zero, or less than the one behind them, and
/// the largest.
enum class CountKind { kSum, kAbove, kNonzero, kIncreases, kMax };
[[nodiscard]] EnumTable<CountKind> enum_table(CountKind value);
/// It says how many elements there are of a kind, and not what they add up to.
[[nodiscard]] constexpr bool counts_elements(CountKind kind) {
  return kind != CountKind::kSum && kind != CountKind::kMax;
}

struct OperationCount {
  std::string name;
  CountKind kind = CountKind::kSum;
  std::int64_t buffer = 0;           ///< its index: an input of whole numbers that launches leave alone
  std::int64_t bound = 0;            ///< of kAbove
  double flops = 0, bytes = 0;       ///< what each of it adds to a launch
  double expected = 0;               ///< before there is data
  std::optional<double> value = {};  ///< what was counted, in the mean of the copies that timed launches rotate over

  [[nodiscard]] double best_known() const { return value.value_or(expected); }

  PGTUNE_FIELDS(name, kind, buffer, bound, flops, bytes, expected, value)
  /// What was counted is no part of the problem.
  friend bool operator==(const OperationCount& a, const OperationCount& b) {
    return a.name == b.name && a.kind == b.kind && a.buffer == b.buffer && a.bound == b.bound && a.flops == b.flops &&
           a.bytes == b.bytes && a.expected == b.expected;
  }
};

}  // namespace pgtune
