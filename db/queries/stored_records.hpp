// SPDX-License-Identifier: MIT
// Reads the content of a file that may come from elsewhere. Text, words and numbers that pgtune cannot have written are
// errors.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "db/sqlite/statement.hpp"
#include "tuner/model/conditions.hpp"
#include "tuner/model/json.hpp"
#include "tuner/util/json_reader.hpp"
#include "tuner/util/named_enum.hpp"
#include "tuner/util/utf8.hpp"

namespace pgtune::db {

inline constexpr const char* kUnreadableRemedy =
    "Restore the file from a copy, or move it aside and search again; 'pgtune db check' lists what is damaged.";

/// The record in a database's text. Throws Error: "SUBJECT cannot be read (CAUSE). REMEDY".
template <typename Record>
[[nodiscard]] Record record_of(const std::string& text, const std::string& subject,
                               const char* remedy = kUnreadableRemedy) {
  auto record = read_untrusted_json<Record>(text);
  if (!record) throw Error(fmt::format("{} cannot be read ({}). {}", subject, record.error().message, remedy), 0);
  return std::move(*record);
}

/// The record in the one text that `select` returns, if any; `what` names it in an Error.
template <typename Record, typename... Values>
[[nodiscard]] std::optional<Record> find_record(const Database& database, std::string_view select, const char* what,
                                                const Values&... values) {
  Statement statement(database, select);
  if (!statement.bind(values...).step()) return std::nullopt;
  std::string text;
  statement >> text;
  return record_of<Record>(text, fmt::format("the database holds {} that", what));
}

/// The content of `value`, which stands for `text` of the database. Throws Error where there is none.
template <typename Value>
[[nodiscard]] Value known_word(std::optional<Value> value, const std::string& text, const char* what) {
  if (!value)
    throw Error(fmt::format("the database holds an unknown {} '{}'. {}", what, excerpt(text), kUnreadableRemedy), 0);
  return *std::move(value);
}

template <NamedEnum Enum>
[[nodiscard]] Enum known_word(const std::string& word, const char* what) {
  return known_word(enumerator_of<Enum>(word), word, what);
}

/// Parses the text of a session's conditions_key. Throws Error.
[[nodiscard]] inline Conditions conditions_of(const std::string& key) {
  const auto parsed = parse_conditions(key);
  return known_word(parsed ? std::optional(*parsed) : std::nullopt, key, "text of conditions");
}

/// Throws Error if the record's validate() fails.
template <typename Record>
void require_valid(const Record& record) {
  if (const auto valid = record.validate(); !valid)
    throw Error(fmt::format("the database holds {}. {}", valid.error().message, kUnreadableRemedy), 0);
}

}  // namespace pgtune::db
