// SPDX-License-Identifier: MIT
// Names content: equal hashes stand for equal bytes.
#pragma once

#include <string>
#include <string_view>

namespace pgtune {

/// XXH3 of 128 bits, in 32 hexadecimal digits.
[[nodiscard]] std::string hash_text(std::string_view bytes);

}  // namespace pgtune
