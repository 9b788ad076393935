// SPDX-License-Identifier: MIT
// How single fields of a JSON object are read and written. Private to the model's and the session's JSON.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace pgtune {

/// A word that names no enumerator is a malformed message like any other. Throws nlohmann::json::exception.
template <typename Value>
Value known_word(std::optional<Value> value, const nlohmann::json& word) {
  if (!value) throw nlohmann::json::other_error::create(501, fmt::format("unknown word {}", word.dump()), &word);
  return *value;
}

/// `parse` turns text into an optional enumerator. Throws nlohmann::json::exception.
template <typename Value, typename Parse>
void read_word(const nlohmann::json& object, const char* field, Value& target, Parse parse) {
  const nlohmann::json& word = object.at(field);
  target = known_word(parse(word.get<std::string>()), word);
}

/// Facts that may be missing are left out.
template <typename Value>
void write_optional(nlohmann::json& out, const char* field, const std::optional<Value>& value) {
  if (value) out[field] = *value;
}

template <typename Value>
void read_optional(const nlohmann::json& in, const char* field, std::optional<Value>& value) {
  value.reset();
  if (const auto it = in.find(field); it != in.end() && !it->is_null()) value = it->template get<Value>();
}

}  // namespace pgtune
