// SPDX-License-Identifier: MIT
// Counts as text.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace pgtune {

/// "16,950,912"; from a thousand million on in three digits: "17.3 billion", "368 trillion".
[[nodiscard]] std::string count_text(std::int64_t count);

/// "1 session", "2,000 sessions".
[[nodiscard]] std::string counted(std::integral auto count, std::string_view noun) {
  return count_text(static_cast<std::int64_t>(count)).append(" ").append(noun).append(count == 1 ? "" : "s");
}

}  // namespace pgtune
