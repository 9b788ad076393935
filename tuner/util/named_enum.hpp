// SPDX-License-Identifier: MIT
// Enumerators and the words that store and show them, in one table per enumeration.
#pragma once

#include <array>
#include <concepts>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

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

/// An enumeration's table as seen from outside its source file.
template <typename Enum>
using EnumTable = std::span<const std::pair<Enum, std::string_view>>;

/// An enumeration that can be a record's field (util/fields.hpp): the function `enum_table(Enum)` in its namespace
/// returns its table and ignores the argument's value.
template <typename Enum>
concept NamedEnum = std::is_enum_v<Enum> && requires(Enum value) {
  { enum_table(value) } -> std::same_as<EnumTable<Enum>>;
};

template <NamedEnum Enum>
[[nodiscard]] std::string_view to_string(Enum value) {
  for (const auto& [enumerator, name] : enum_table(value)) {
    if (enumerator == value) return name;
  }
  return "?";
}

template <NamedEnum Enum>
[[nodiscard]] std::optional<Enum> enumerator_of(std::string_view word) {
  for (const auto& [enumerator, name] : enum_table(Enum{})) {
    if (name == word) return enumerator;
  }
  return std::nullopt;
}

/// All words, in the table's order.
template <NamedEnum Enum>
[[nodiscard]] std::vector<std::string_view> words_of() {
  std::vector<std::string_view> out;
  for (const auto& [enumerator, name] : enum_table(Enum{})) out.push_back(name);
  return out;
}

}  // namespace pgtune
