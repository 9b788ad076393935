// SPDX-License-Identifier: MIT
// Enumerators and the words they are stored and shown as, in one table per enumeration.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace pgtune {

template <typename Enum, std::size_t size>
using EnumNames = std::array<std::pair<Enum, std::string_view>, size>;

template <typename Enum, std::size_t size>
[[nodiscard]] constexpr std::string_view enum_name(const EnumNames<Enum, size>& names, Enum value) {
  for (const auto& [enumerator, name] : names) {
    if (enumerator == value) return name;
  }
  return "?";
}

template <typename Enum, std::size_t size>
[[nodiscard]] constexpr std::optional<Enum> enum_value(const EnumNames<Enum, size>& names, std::string_view text) {
  for (const auto& [enumerator, name] : names) {
    if (name == text) return enumerator;
  }
  return std::nullopt;
}

}  // namespace pgtune
