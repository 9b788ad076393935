// SPDX-License-Identifier: MIT
// The form of names and labels in a template's JSON, in expressions, macros, databases and exported headers.
#pragma once

#include <algorithm>
#include <cstdint>
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

/// Stable integer for a label such as 'cp_async' (31-bit FNV-1a): labels compare equal exactly when their texts do.
/// Templates with two labels of one value are rejected. Kernels see it as the macro LABEL_cp_async.
[[nodiscard]] constexpr std::int64_t label_value(std::string_view label) {
  std::uint32_t hash = 2166136261U;
  for (const char c : label) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return static_cast<std::int64_t>(hash & 0x7FFFFFFFU);
}

}  // namespace pgtune
