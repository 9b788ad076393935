// SPDX-License-Identifier: MIT
#include "db/sqlite/transaction.hpp"

#include <sqlite3.h>

#include <string>

#include "db/sqlite/statement.hpp"

namespace pgtune::db {

Transaction::Transaction(const Database& database, TransactionKind kind) : database_(database) {
  execute(database_, kind == TransactionKind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN");
  open_ = true;
  // The lock is held, so what the file is now it stays until the end.
  if (kind == TransactionKind::kWrite && database_.schema_version() > kSchemaVersion) {
    execute(database_, "ROLLBACK");
    open_ = false;
    throw Error("database " + database_.origin() + " was brought to schema version " +
                    std::to_string(database_.schema_version()) +
                    " by a newer pgtune while this one was using it. Go on with the newer one; what was stored is kept",
                0);
  }
}

Transaction::~Transaction() {
  // SQLite ends the transaction itself after some errors, such as a full disk.
  if (open_ && sqlite3_get_autocommit(database_.handle()) == 0) {
    sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

void Transaction::commit() {
  execute(database_, "COMMIT");
  open_ = false;
}

}  // namespace pgtune::db
