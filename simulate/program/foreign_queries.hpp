// SPDX-License-Identifier: MIT
// Tables of other tools in the database: kept and found as text whose form is their owner's. All functions throw
// db::Error.
#pragma once

#include <string>
#include <vector>

#include "db/database.hpp"

namespace pgtune::db {

struct ForeignTableRow {
  std::string origin;  ///< the file it was read from
  std::string kernel, device;
  std::string table_json;
};

/// False where the database holds the very table already: nothing is added then.
[[nodiscard]] bool save_foreign_table(Database& database, const ForeignTableRow& row);
/// Each once, in the order in which they were imported.
[[nodiscard]] std::vector<ForeignTableRow> foreign_tables(const Database& database);

}  // namespace pgtune::db
