// SPDX-License-Identifier: MIT
#include "db/sqlite/transaction.hpp"

#include <sqlite3.h>

#include "db/sqlite/statement.hpp"

namespace pgtune::db {

Transaction::Transaction(const Database& database, TransactionKind kind) : database_(database) {
  execute(database_, kind == TransactionKind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN");
  open_ = true;
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
