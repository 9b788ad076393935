// SPDX-License-Identifier: MIT
// Error messages that point at a character of a text the user wrote.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pgtune {

/// Three lines: the message, the text, and a caret under the character at byte `position` (text.size(): just past the
/// end). Control characters show as blanks, UTF-8 counts by character, and of a long text only the part near the caret
/// is shown, so the caret stays aligned.
[[nodiscard]] std::string with_caret(std::string_view message, std::string_view text, std::size_t position);

}  // namespace pgtune
