// SPDX-License-Identifier: MIT
// Finds or inserts rows by their content. For queries inside their own write transaction.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "db/queries/records.hpp"
#include "db/sqlite/record_columns.hpp"
#include "db/sqlite/statement.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::db {

/// `select` returns one integer, a row's id.
template <typename... Values>
[[nodiscard]] std::optional<RowId> find_row(const Database& database, std::string_view select,
                                            const Values&... values) {
  Statement statement(database, select);
  if (!statement.bind(values...).step()) {
    return std::nullopt;
  }
  RowId row = 0;
  statement >> row;
  return row;
}

/// `insert` ends in RETURNING id.
template <typename... Values>
RowId insert_row(const Database& database, std::string_view insert, const Values&... values) {
  Statement statement(database, insert);
  RowId row = 0;
  if (statement.bind(values...).step()) {
    statement >> row;
  }
  statement.run();
  return row;
}

/// Both statements take the same values. Safe inside a write transaction only.
template <typename... Values>
RowId find_or_insert(const Database& database, std::string_view select, std::string_view insert,
                     const Values&... values) {
  const auto found = find_row(database, select, values...);
  return found ? *found : insert_row(database, insert, values...);
}

[[nodiscard]] RowId device_row(const Database& database, const DeviceInfo& device);
[[nodiscard]] RowId environment_row(const Database& database, const DeviceInfo& device, const Program& program);
/// Throws Error if there is no such session.
[[nodiscard]] RowId template_of_session(const Database& database, RowId session);
[[nodiscard]] std::optional<RowId> find_variant(const Database& database, RowId template_id, const std::string& key);
[[nodiscard]] RowId template_row_id(const Database& database, const TemplateRow& row);
/// A variant's template: `origin`, or where that is empty the session's.
[[nodiscard]] RowId template_of_variant(const Database& database, RowId session, const TemplateRow& origin);
/// Of a variant whose origin is known.
[[nodiscard]] RowId variant_row(const Database& database, const VariantRow& variant);
[[nodiscard]] RowId variant_row(const Database& database, RowId session, const VariantRow& variant);
[[nodiscard]] RowId problem_row(const Database& database, const Problem& problem);
[[nodiscard]] RowId conditions_row(const Database& database, const std::string& key, const std::string& json);
[[nodiscard]] RowId stage_row(const Database& database, Stage stage);
[[nodiscard]] RowId outcome_row(const Database& database, const Outcome& outcome);
/// A trial's columns of its check; NULL where there was none.
struct CheckColumns {
  std::optional<double> max_error, norm_error;
};
[[nodiscard]] CheckColumns check_columns(const std::optional<CheckReport>& check);
/// Stores that the session ended now. Throws Error if there is no such session.
void end_session(const Database& database, RowId session);
/// The columns of the table of builds, which stores no path of a cache.
[[nodiscard]] const RecordColumns<BuildInfo>& build_columns();

// The columns that samples of trials and samples of rounds share.

/// A sample's own columns; its stage is a row that samples share.
[[nodiscard]] const RecordColumns<Sample>& sample_columns();

/// The columns that read_sample() reads from a samples table joined with stages.
[[nodiscard]] std::string selected_sample_columns();

/// Throws Error for an unknown stage, and for values that no measurement gives.
[[nodiscard]] Sample read_sample(Statement& statement);

}  // namespace pgtune::db
