// SPDX-License-Identifier: MIT
// The records that a database keeps as text: what db check, copy and merge look for in them, and what to do about an
// answer that cannot be read.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "db/upkeep/content_check.hpp"
#include "tuner/util/json_reader.hpp"

namespace pgtune::tool {

/// For an answer, which a newer one takes the place of.
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

/// What the columns that hold records or words hold, for db::damage(). Rooms have more (rooms.hpp).
[[nodiscard]] const db::ColumnChecks& record_checks();

}  // namespace pgtune::tool
