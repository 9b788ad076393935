// SPDX-License-Identifier: MIT
// What names and labels look like in a template's JSON, in expressions, macros, databases and exported headers.
#pragma once

#include <algorithm>
#include <string_view>

namespace pgtune {

[[nodiscard]] constexpr bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// [A-Za-z0-9_]+, so that LABEL_<label> is a macro's name.
[[nodiscard]] constexpr bool is_label(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_word_character);
}

/// [A-Za-z_][A-Za-z0-9_]*
[[nodiscard]] constexpr bool is_identifier(std::string_view text) {
  return is_label(text) && !(text.front() >= '0' && text.front() <= '9');
}

}  // namespace pgtune
