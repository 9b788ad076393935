// SPDX-License-Identifier: MIT
// Between tables of other tools and those of pgtune's own searches.
#pragma once

#include <string>
#include <vector>

#include "db/database.hpp"
#include "simulate/program/foreign_table.hpp"
#include "tool/pgtune/learning/recorded_tables.hpp"

namespace pgtune::tool {

/// As a table that strategies can be tried on: of one template, named like the kernel, of no problem that pgtune knows;
/// a search is told nothing but the variants. `origin`: the file.
[[nodiscard]] RecordedTable simulated_table(const ForeignTable& table, const std::string& origin);

/// A table for each template, in other tools' words: they know of no several templates in one search. A template of
/// the catalogue states its parameters' values and its rules, in pgtune's expression language. Templates without a
/// variant that was timed are left out. Throws CommandError.
[[nodiscard]] std::vector<ForeignTable> foreign_tables_of(const RecordedTable& table, const KnownTemplates& templates);

/// The tables that were imported into a database. Throws CommandError (database) where one is damaged, db::Error.
[[nodiscard]] std::vector<RecordedTable> imported_tables(const db::Database& database);

}  // namespace pgtune::tool
