// SPDX-License-Identifier: MIT
// How the tables hang together, read from the schema itself, so that dump, merge and prune know a new table or column
// without being told.
//
// A table's rows belong to a session, directly or through another row (trials, samples of a trial); or are looked up by
// what they hold (devices, variants, outcomes) and shared, with an id and a UNIQUE constraint; or stand for themselves
// (ceilings), with an id and best with a column named *_at that says when.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "db/database.hpp"

namespace pgtune::db {

inline constexpr const char* kSessionTable = "sessions";
/// The column of rows that others refer to.
inline constexpr const char* kIdColumn = "id";

struct ColumnShape {
  std::string name;
  std::string refers_to;  ///< a table, else empty
  std::string type;       ///< "INTEGER", "REAL" or "TEXT"
};

struct TableShape {
  std::string name;
  std::vector<ColumnShape> columns;  ///< in the order of the schema, with the id
  std::vector<std::string> primary_key;
  std::vector<std::string> unique_key;  ///< of a table of shared rows
  std::string owner;                    ///< the table whose rows these belong to, else empty
  std::string owner_column;
  [[nodiscard]] bool has_id() const { return primary_key.size() == 1 && primary_key.front() == kIdColumn; }
};

class TableShapes {
 public:
  /// Of the schema this program writes, found out once in a process. Throws Error.
  [[nodiscard]] static const TableShapes& of_this_program();

  [[nodiscard]] const TableShape& table(const std::string& name) const { return tables_.at(name); }
  [[nodiscard]] const std::map<std::string, TableShape>& tables() const { return tables_; }
  /// Tables whose rows belong to rows of `owner`, by name.
  [[nodiscard]] const std::vector<std::string>& owned_by(const std::string& owner) const;
  /// Tables of rows that others share, each after those it refers to.
  [[nodiscard]] const std::vector<std::string>& shared() const { return shared_; }
  /// Tables of rows that nobody refers to and that belong to no session, by name.
  [[nodiscard]] const std::vector<std::string>& standalone() const { return standalone_; }
  /// Where rows of `table` are referred to: table and column.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> references_to(const std::string& table) const;

 private:
  void find_owners();
  void sort_the_rest();
  std::map<std::string, TableShape> tables_;
  std::map<std::string, std::vector<std::string>> owned_;
  std::vector<std::string> shared_, standalone_;
};

}  // namespace pgtune::db
