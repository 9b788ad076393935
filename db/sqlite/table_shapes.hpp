// SPDX-License-Identifier: MIT
// The relations between tables, read from the schema, so that dump, merge and prune need no change for a new table or
// column.
//
// There are three kinds of tables. Rows may belong to a session, directly or through another row (trials, samples of a
// trial). Shared rows are looked up by content (devices, variants, outcomes) and have an id and a UNIQUE constraint.
// Independent rows (ceilings) have an id and, preferably, a time in a column named *_at.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "db/database.hpp"

namespace pgtune::db {

inline constexpr const char* kSessionTable = "sessions";
/// The column that other rows refer to.
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
  std::string owner;                    ///< the table that owns these rows, else empty
  std::string owner_column;
  [[nodiscard]] bool has_id() const { return primary_key.size() == 1 && primary_key.front() == kIdColumn; }
};

class TableShapes {
 public:
  /// The relations in the schema that this program writes, read once in a process. Throws Error.
  [[nodiscard]] static const TableShapes& of_this_program();

  [[nodiscard]] const TableShape& table(const std::string& name) const { return tables_.at(name); }
  [[nodiscard]] const std::map<std::string, TableShape>& tables() const { return tables_; }
  /// Tables with rows that belong to rows of `owner`, by name.
  [[nodiscard]] const std::vector<std::string>& owned_by(const std::string& owner) const;
  /// Tables of shared rows, each after those it refers to.
  [[nodiscard]] const std::vector<std::string>& shared() const { return shared_; }
  /// Tables of independent rows: no row refers to them, and they belong to no session. By name.
  [[nodiscard]] const std::vector<std::string>& standalone() const { return standalone_; }
  /// The tables and columns that refer to rows of `table`.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> references_to(const std::string& table) const;

 private:
  void find_owners();
  void sort_the_rest();
  std::map<std::string, TableShape> tables_;
  std::map<std::string, std::vector<std::string>> owned_;
  std::vector<std::string> shared_, standalone_;
};

}  // namespace pgtune::db
