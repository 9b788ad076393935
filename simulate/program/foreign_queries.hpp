// SPDX-License-Identifier: MIT
// Tables of other tools in the database, stored as text that only the caller interprets. All functions throw db::Error.
#pragma once

#include <string>
#include <vector>

#include "db/database.hpp"

namespace pgtune::db {

struct ForeignTableRow {
  std::string origin;  ///< the source file
  std::string kernel, device;
  std::string table_json;
};

/// False if the database has an equal table already; then nothing is added.
[[nodiscard]] bool save_foreign_table(Database& database, const ForeignTableRow& row);
/// Each table once, in the order of import.
[[nodiscard]] std::vector<ForeignTableRow> foreign_tables(const Database& database);

}  // namespace pgtune::db
