// SPDX-License-Identifier: MIT
// Untrusted text: whether its bytes are UTF-8, and a form of it for messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pgtune {

/// Bytes of the UTF-8 sequence at the front of `text`, 0 if there is none (RFC 3629, section 4).
[[nodiscard]] std::size_t utf8_length(std::string_view text);

/// `text` without the byte order mark that editors write in front of a file.
[[nodiscard]] std::string_view without_byte_order_mark(std::string_view text);

/// `text` with U+FFFD for each byte that belongs to no UTF-8 sequence.
[[nodiscard]] std::string as_utf8(std::string_view text);

/// The first `bytes` bytes of `text` as UTF-8, with "..." if it is longer, for quoting a file in a message.
[[nodiscard]] std::string excerpt(std::string_view text, std::size_t bytes = 120);

}  // namespace pgtune
