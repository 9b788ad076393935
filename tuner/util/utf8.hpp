// SPDX-License-Identifier: MIT
// Text from elsewhere: whether its bytes are UTF-8, and what of it goes into a message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pgtune {

/// Bytes of the UTF-8 sequence at the front of `text`, 0 where there is none (RFC 3629, section 4).
[[nodiscard]] std::size_t utf8_length(std::string_view text);

/// `text` with U+FFFD for each byte that belongs to no UTF-8 sequence.
[[nodiscard]] std::string as_utf8(std::string_view text);

/// The front of `text` as UTF-8, "..." where more than `bytes` follow: words of a file quoted in a message.
[[nodiscard]] std::string excerpt(std::string_view text, std::size_t bytes = 120);

}  // namespace pgtune
