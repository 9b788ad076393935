// SPDX-License-Identifier: MIT
// All or nothing for several statements.
#pragma once

#include "db/database.hpp"

namespace pgtune::db {

enum class TransactionKind {
  kRead,   ///< several queries see one state
  kWrite,  ///< takes the write lock at once, waiting for other processes: a lock taken later could not wait
};

/// Rolls back unless committed. Does not nest.
class Transaction {
 public:
  Transaction(const Database& database, TransactionKind kind);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  const Database& database_;
  bool open_ = false;
};

}  // namespace pgtune::db
