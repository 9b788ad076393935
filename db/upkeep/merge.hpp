// SPDX-License-Identifier: MIT
// Several databases into one. The result depends on what the inputs hold, not on their order or how often one is named.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/sqlite/table_shapes.hpp"
#include "db/upkeep/content_check.hpp"
#include "db/upkeep/row_queries.hpp"

namespace pgtune::db {

// Copies sessions from one database into another, with new ids.

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

struct MergedInput {
  std::filesystem::path path;
  std::int64_t sessions = 0;  ///< that it holds
  std::int64_t taken = 0;     ///< of these, the ones that were taken from it
};

struct MergeReport {
  std::vector<MergedInput> inputs;  ///< in the order given
  std::int64_t sessions = 0;        ///< of the output
};

/// Writes the sessions of all inputs, and the ceilings, into a new file. A session that several inputs hold (by its
/// uid) is taken once, from the input that knows most of it: finished rather than not, then with more rows. Sessions
/// are numbered by uid, so that in the output, too, a later one is newer; rows that belong to no session are dropped.
/// No input is changed. The output is one file without a log, appears at once under its name and is equal byte for byte
/// whatever the inputs' order. Throws Error where an input is missing, not pgtune's, of another schema or damaged (by
/// damage(), with `checks`), where the output exists or cannot be written; nothing is written then.
[[nodiscard]] MergeReport merge(const std::vector<std::filesystem::path>& inputs, const std::filesystem::path& output,
                                const ColumnChecks& checks = {});

}  // namespace pgtune::db
