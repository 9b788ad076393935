// SPDX-License-Identifier: MIT
// The whole content of a database as JSON lines. Order and text do not depend on the file: ids are replaced by the rows
// that they refer to. Two databases have the same content exactly if their dumps are equal.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "db/sqlite/table_shapes.hpp"
#include "db/upkeep/row_queries.hpp"

namespace pgtune::db {

/// Takes one line, without its end.
using LineSink = std::function<void(const std::string& line)>;

/// Writes sessions one by one; it keeps only one session's shared rows in memory.
class Dump {
 public:
  /// Both must outlive the dump. Throws Error, as all functions do.
  Dump(const Database& database, const TableShapes& shapes);

  /// {"table":"sessions","session":UID,...}, then one line per row that belongs to it, with that row's own rows inside:
  /// {"table":"trials","session":UID,...,"samples":[...]}.
  void session(const std::string& uid, RowId id, const LineSink& sink);
  /// A row that belongs to no session: its id, its time (empty if it has none) and its line, {"table":"ceilings",...}.
  using StandaloneSink = std::function<void(RowId id, const std::string& time, const std::string& line)>;
  /// The rows of one table, in no order.
  void standalone(const std::string& table, const StandaloneSink& sink);
  /// A hash of session()'s lines.
  [[nodiscard]] std::string session_digest(const std::string& uid, RowId id);

 private:
  void append_columns(std::string& out, const TableShape& shape, const Row& row);
  void append_children(std::string& out, const TableShape& shape, const Row& row);
  const std::string& shared_row(const std::string& table, RowId id);
  TableRows& rows_of(const std::string& table);

  const Database& database_;
  const TableShapes& shapes_;
  std::map<std::string, TableRows> owned_;
  std::map<std::pair<std::string, RowId>, std::string> shared_;
};

/// The whole dump, of one state of the database. Its first line is {"pgtune_dump":1,"schema_version":N}.
void dump(const Database& database, const LineSink& sink);

}  // namespace pgtune::db
