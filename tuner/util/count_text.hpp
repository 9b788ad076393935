// SPDX-License-Identifier: MIT
// Large counts as text.
#pragma once

#include <cstdint>
#include <string>

namespace pgtune {

/// "16,950,912"; from a thousand million on in three digits: "17.3 billion", "368 trillion".
[[nodiscard]] std::string count_text(std::int64_t count);

}  // namespace pgtune
