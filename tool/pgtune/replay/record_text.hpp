// SPDX-License-Identifier: MIT
// The records that a database keeps as text: how a command reads one, and what db check, copy and merge look for.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "db/upkeep/content_check.hpp"
#include "tuner/util/json_reader.hpp"

namespace pgtune::tool {

inline constexpr const char* kUnreadableRemedy =
    "Restore the file from a copy, or move it aside and search again; 'pgtune db check' lists what is damaged.";

/// For an answer, which a newer one takes the place of.
inline constexpr const char* kSearchAgainRemedy =
    "Search again with --force to replace it; 'pgtune db check' lists what is damaged.";

/// The record in a database's text. Throws db::Error: "SUBJECT cannot be read (CAUSE). REMEDY".
template <typename Record>
[[nodiscard]] Record record_of(const std::string& text, const std::string& subject,
                               const char* remedy = kUnreadableRemedy) {
  auto record = read_untrusted_json<Record>(text);
  if (!record) throw db::Error(fmt::format("{} cannot be read ({}). {}", subject, record.error().message, remedy), 0);
  return std::move(*record);
}

/// What the columns that hold records or words hold, for db::damage().
[[nodiscard]] const db::ColumnChecks& record_checks();

}  // namespace pgtune::tool
