// SPDX-License-Identifier: MIT
// Tables with one row for each enumerator of an enumeration that counts from 0.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace pgtune {

/// Whether row i is the i-th enumerator's, for a static_assert: a missing row shifts the others.
template <typename Row, std::size_t size, typename Enum>
[[nodiscard]] constexpr bool one_row_each(const std::array<Row, size>& rows, Enum Row::*key) {
  for (std::size_t i = 0; i < size; ++i) {
    if (rows[i].*key != static_cast<Enum>(i)) return false;
  }
  return true;
}

/// Throws std::out_of_range for a value that is no enumerator.
template <typename Row, std::size_t size, typename Enum>
[[nodiscard]] constexpr const Row& row_of(const std::array<Row, size>& rows, Enum value) {
  return rows.at(static_cast<std::size_t>(value));
}

/// One member of every row.
template <typename Row, std::size_t size, typename Value>
[[nodiscard]] std::vector<Value> column(const std::array<Row, size>& rows, Value Row::*member) {
  std::vector<Value> values;
  values.reserve(size);
  for (const Row& row : rows) values.push_back(row.*member);
  return values;
}

}  // namespace pgtune
