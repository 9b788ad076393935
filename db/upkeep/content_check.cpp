// SPDX-License-Identifier: MIT
#include "db/upkeep/content_check.hpp"

#include <algorithm>

#include "db/sqlite/statement.hpp"
#include "db/sqlite/table_shapes.hpp"
#include "db/upkeep/row_queries.hpp"

namespace pgtune::db {
namespace {

constexpr std::size_t kMostProblems = 100;
/// SQLite has no unsigned integers: a seed's bits are stored, and its sign means nothing.
constexpr const char* kSeedColumn = "seed";

std::optional<std::string> impossible_number(const ColumnShape& column, const Value& value) {
  const auto* const real = std::get_if<double>(&value);
  const auto* const integer = std::get_if<std::int64_t>(&value);
  const bool counts = column.refers_to.empty() && column.name != kIdColumn && column.name != kSeedColumn;
  const bool possible = (real == nullptr || is_measured(*real)) && (integer == nullptr || !counts || *integer >= 0);
  if (possible) {
    return std::nullopt;
  }
  return "impossible number " + (real != nullptr ? std::to_string(*real) : std::to_string(*integer));
}

/// "best (session 1)", by the columns of the primary key.
std::string row_name(const TableShape& shape, const Row& row) {
  std::string name = shape.name + " (";
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto& key = shape.primary_key;
    if (std::find(key.begin(), key.end(), shape.columns[i].name) == key.end()) {
      continue;
    }
    name += (name.ends_with('(') ? "" : ", ") + shape.columns[i].name + ' ';
    append_json(name, row[i]);
  }
  return name + ')';
}

/// The check of each column that has one, in the order of the table's columns.
std::vector<ColumnCheck> checks_of(const TableShape& shape, const ColumnChecks& checks) {
  std::vector<ColumnCheck> of_columns;
  for (const auto& column : shape.columns) {
    const auto own = checks.find(shape.name + '.' + column.name);
    of_columns.push_back(own == checks.end() ? ColumnCheck() : own->second);
  }
  return of_columns;
}

std::vector<std::string> impossible_values(const Database& database, const ColumnChecks& checks) {
  std::vector<std::string> problems;
  const TableShapes& shapes = TableShapes::of_this_program();
  for (const auto& [table, shape] : shapes.tables()) {
    const std::vector<ColumnCheck> of_columns = checks_of(shape, checks);
    TableRows rows(database, shape);
    for (Row row; rows.next(row);) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        auto problem = impossible_number(shape.columns[i], row[i]);
        if (!problem && of_columns[i] && !std::holds_alternative<std::monostate>(row[i])) {
          problem = of_columns[i](row[i]);
        }
        if (problem) {
          problems.push_back(row_name(shape, row) + ": " + shape.columns[i].name + ": " + *problem);
        }
        if (problems.size() == kMostProblems) {
          return problems;
        }
      }
    }
  }
  return problems;
}

}  // namespace

std::vector<std::string> damage(const Database& database, const ColumnChecks& checks) {
  auto problems = database.check();
  return problems.empty() ? impossible_values(database, checks) : problems;
}

}  // namespace pgtune::db
