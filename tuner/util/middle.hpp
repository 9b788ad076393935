// SPDX-License-Identifier: MIT
// A median for measurements: always one of the values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace pgtune {

/// The middle value; for an even count the larger of the middle two; 0 if empty.
template <typename T>
[[nodiscard]] T middle_of(std::vector<T> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace pgtune
