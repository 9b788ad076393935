// SPDX-License-Identifier: MIT
// Between tables of other tools and those of pgtune's own searches.
#pragma once

#include <string>
#include <vector>

#include "db/database.hpp"
#include "simulate/program/foreign_table.hpp"
#include "tool/pgtune/learning/recorded_tables.hpp"

namespace pgtune::tool {

/// Converts it to a table for strategies. It has one template, named like the kernel, and no problem that pgtune knows;
/// a strategy sees only the variants. `origin`: the file.
[[nodiscard]] RecordedTable simulated_table(const ForeignTable& table, const std::string& origin);

/// Makes a table for each template in another tool's terms, because those tools have one kernel per search. A template
/// of the catalogue states its parameters' values and its rules, in pgtune's expression language. Templates without a
/// timed variant are left out. Throws CommandError.
[[nodiscard]] std::vector<ForeignTable> foreign_tables_of(const RecordedTable& table, const KnownTemplates& templates);

/// The tables that were imported into a database. Throws CommandError (database) if one is damaged, and db::Error.
[[nodiscard]] std::vector<RecordedTable> imported_tables(const db::Database& database);

}  // namespace pgtune::tool
