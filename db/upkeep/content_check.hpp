// SPDX-License-Identifier: MIT
// Checks whether pgtune can have written the values in the tables. SQLite's own checks cover only types and references.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "db/sqlite/statement.hpp"

namespace pgtune::db {

/// What is wrong with a value, in a few words; nothing if its column allows it.
using ColumnCheck = std::function<std::optional<std::string>(const Value&)>;
/// The check of each column, by "table.column"; its reader provides it. NULL is not checked.
using ColumnChecks = std::map<std::string, ColumnCheck>;

/// Returns what Database::check() finds. If that is nothing, returns one line with table, row and column for each value
/// that pgtune cannot have written. These are values that `checks` refuse, real numbers that no measurement gives, and
/// negative integers. Columns are taken from the schema, so new ones are covered. Stops after the first hundred. Throws
/// Error.
[[nodiscard]] std::vector<std::string> damage(const Database& database, const ColumnChecks& checks);

}  // namespace pgtune::db
