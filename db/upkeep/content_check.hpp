// SPDX-License-Identifier: MIT
// Whether the values in the tables are such as pgtune writes. SQLite's own checks know types and references only.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "db/sqlite/statement.hpp"

namespace pgtune::db {

/// What is wrong with a value, in a few words; nothing where it may stand in its column.
using ColumnCheck = std::function<std::optional<std::string>(const Value&)>;
/// What the columns hold, by "table.column", said by those who read them. NULL is not asked about.
using ColumnChecks = std::map<std::string, ColumnCheck>;

/// What Database::check() finds; where that is nothing, one line for each value that pgtune cannot have written, with
/// its table, row and column: what `checks` refuse, real numbers that no measurement gives, and negative integers.
/// Columns are taken from the schema, so new ones are covered. Ends after the first hundred. Throws Error.
[[nodiscard]] std::vector<std::string> damage(const Database& database, const ColumnChecks& checks);

}  // namespace pgtune::db
