// SPDX-License-Identifier: MIT
// The records that a database stores as text: their checks for db check, copy and merge, and the remedy for an
// unreadable answer.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "db/upkeep/content_check.hpp"
#include "tuner/util/json_reader.hpp"

namespace pgtune::tool {

/// The remedy for an answer, which a newer one replaces.
inline constexpr const char* kSearchAgainRemedy =
    "Search again with --force to replace it; 'pgtune db check' lists what is damaged.";

// Checks of one column (db::ColumnCheck).

/// For the JSON of a Record.
template <typename Record>
std::optional<std::string> no_record(const db::Value& value) {
  const auto record = read_untrusted_json<Record>(std::get<std::string>(value));
  if (record) return std::nullopt;
  return record.error().message;
}
/// For launches of a sample.
[[nodiscard]] std::optional<std::string> no_launches(const db::Value& value);
/// For seconds.
[[nodiscard]] std::optional<std::string> no_sample_time(const db::Value& value);

/// The checks of columns with records or words, for db::damage(). Rooms have more (rooms.hpp).
[[nodiscard]] const db::ColumnChecks& record_checks();

}  // namespace pgtune::tool
