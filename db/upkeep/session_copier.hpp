// SPDX-License-Identifier: MIT
// Copies sessions from one database into another, with new ids.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "db/sqlite/table_shapes.hpp"
#include "db/upkeep/row_queries.hpp"

namespace pgtune::db {

/// For one source and one target, which must outlive it. Call inside transactions of both. Throws Error.
class SessionCopier {
 public:
  SessionCopier(const Database& source, const Database& target, const TableShapes& shapes)
      : source_(source), target_(target), shapes_(shapes) {}

  /// Everything that belongs to the session. Rows it shares are found in the target by what they hold, or added.
  void copy(RowId session);
  /// One row that belongs to no session; replaces one with the same unique key.
  void copy_standalone(const std::string& table, RowId id);

 private:
  RowId shared_row(const std::string& table, RowId id);
  /// The row with ids of the target; `owner` is its new owner.
  Row translated(const TableShape& shape, const Row& row, RowId owner);
  RowId insert(const TableShape& shape, const Row& row, const std::string& verb);
  void copy_children(const TableShape& shape, RowId old_id, RowId new_id);

  const Database& source_;
  const Database& target_;
  const TableShapes& shapes_;
  std::map<std::pair<std::string, RowId>, RowId> shared_;
  std::map<std::string, std::unique_ptr<OwnedRows>> owned_;
  std::map<std::string, std::unique_ptr<Statement>> inserts_, finds_;
};

/// Puts a session of a recording into `target`, marked as recorded: it answers for no measurement. Nothing where its
/// uid is there already. One transaction. Throws Error.
void store_recorded(const Database& recording, RowId session, Database& target);

}  // namespace pgtune::db
