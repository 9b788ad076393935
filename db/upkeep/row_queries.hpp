// SPDX-License-Identifier: MIT
// Rows of any table, in an order that depends on their content and not on their file.
#pragma once

#include <string>
#include <vector>

#include "db/queries/queries.hpp"
#include "db/sqlite/statement.hpp"
#include "db/sqlite/table_shapes.hpp"

namespace pgtune::db {

using Row = std::vector<Value>;

/// One row of a table with an id; empty if there is none.
[[nodiscard]] Row row_by_id(const Database& database, const TableShape& shape, RowId id);

/// Rows of one table, read one after another.
class TableRows {
 public:
  /// All of them, in the order of the primary key.
  TableRows(const Database& database, const TableShape& shape);
  /// Those that belong to the row given to begin(), prepared once and run for many. Rows with an id come in the order
  /// they were written; others by primary key, in which a reference counts as what it refers to.
  TableRows(const Database& database, const TableShapes& shapes, const std::string& table);
  /// Restarts with the rows of `owner`.
  void begin(RowId owner) { statement_.bind(owner); }
  /// The next row; false at the end.
  [[nodiscard]] bool next(Row& row);

 private:
  Statement statement_;
  std::size_t columns_;
};

/// sessions.id by uid, in the order of uids.
[[nodiscard]] std::map<std::string, RowId> sessions_by_uid(const Database& database);

}  // namespace pgtune::db
