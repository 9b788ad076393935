// SPDX-License-Identifier: MIT
// Merges several databases into one. The result depends on the inputs' content, not on their order or on repeated
// inputs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
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

  /// Copies everything that belongs to the session. Shared rows are found in the target by content, or added.
  void copy(RowId session);
  /// Copies one row that belongs to no session; it replaces one with the same unique key.
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
  std::map<std::string, TableRows> owned_;
  std::map<std::string, Statement> inserts_, finds_;
};

/// Copies a session of a recording and its board's ceilings into `target`, marked as recorded: no search reuses its
/// measurements. What `target` has already is not copied. One transaction. Throws Error.
void store_recorded(const Database& recording, RowId session, Database& target);

struct MergedInput {
  std::filesystem::path path;
  std::int64_t sessions = 0;  ///< in the input
  std::int64_t taken = 0;     ///< of these, the ones taken from it
};

struct MergeReport {
  std::vector<MergedInput> inputs;  ///< in the order given
  std::int64_t sessions = 0;        ///< of the output
};

/// Writes the sessions of all inputs, and the ceilings, into a new file. A session in several inputs (by its uid) is
/// taken once, from the most complete input: finished before unfinished, then the one with more rows. Sessions are
/// numbered by uid, so that a later one is newer in the output, too; rows that belong to no session are dropped. No
/// input is changed. The output is one file without a log, appears atomically under its name and is equal byte for byte
/// for any order of inputs. Throws Error, and writes nothing, if an input is missing, not pgtune's, of another schema
/// or damaged (by damage(), with `checks`), or if the output exists or cannot be written.
[[nodiscard]] MergeReport merge(const std::vector<std::filesystem::path>& inputs, const std::filesystem::path& output,
                                const ColumnChecks& checks = {});

}  // namespace pgtune::db
