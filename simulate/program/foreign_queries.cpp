// SPDX-License-Identifier: MIT
#include "simulate/program/foreign_queries.hpp"

#include <algorithm>

#include "db/queries/row_lookup.hpp"
#include "db/sqlite/statement.hpp"
#include "db/sqlite/timestamp.hpp"
#include "tuner/util/hash_text.hpp"

namespace pgtune::db {

bool save_foreign_table(Database& database, const ForeignTableRow& row) {
  const std::string text = hash_text(row.table_json + '\0');
  Transaction transaction(database, TransactionKind::kWrite);
  if (find_row(database, "SELECT id FROM foreign_tables WHERE digest = ?1", text)) return false;
  // Never earlier than the last, even if the clock was set back: merged files sort tables by this time.
  const std::string last = query_text(database, "SELECT max(imported_at) FROM foreign_tables");
  insert_row(database,
             "INSERT INTO foreign_tables (imported_at, origin, kernel, device, digest, table_json)"
             " VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING id",
             std::max(last, utc_now()), row.origin, row.kernel, row.device, text, row.table_json);
  transaction.commit();
  return true;
}

std::vector<ForeignTableRow> foreign_tables(const Database& database) {
  Statement statement(database,
                      "SELECT origin, kernel, device, table_json FROM foreign_tables WHERE id IN"
                      " (SELECT min(id) FROM foreign_tables GROUP BY digest) ORDER BY id");
  std::vector<ForeignTableRow> rows;
  while (statement.step()) {
    ForeignTableRow& row = rows.emplace_back();
    statement >> row.origin >> row.kernel >> row.device >> row.table_json;
  }
  return rows;
}

}  // namespace pgtune::db
