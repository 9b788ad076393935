// SPDX-License-Identifier: MIT
#include "db/migrate.hpp"

#include <sqlite3.h>

#include <charconv>
#include <string>

#include "db/hardware.hpp"
#include "db/session_uid.hpp"
#include "db/sqlite/file_header.hpp"
#include "db/sqlite/schema_check.hpp"
#include "db/sqlite/statement.hpp"
#include "db/sqlite/transaction.hpp"
#include "db_migrations.hpp"

namespace pgtune::db {
namespace {

std::int32_t application_id(const Database& database) {
  return static_cast<std::int32_t>(query_integer(database, "PRAGMA application_id"));
}

bool is_empty(const Database& database) {
  return application_id(database) == 0 && query_integer(database, "SELECT count(*) FROM sqlite_schema") == 0;
}

/// "0012_name.sql" is migration 12.
int migration_number(std::string_view file_name) {
  int number = 0;
  std::from_chars(file_name.data(), file_name.data() + file_name.size(), number);
  return number;
}

void require_own_or_empty(const Database& database) {
  if (!is_empty(database)) {
    require_own_schema(application_id(database), database.schema_version(), database.origin());
  }
}

/// Lifts PRAGMA foreign_keys for a while. It has no effect inside a transaction, so this comes before one.
class ForeignKeysLifted {
 public:
  explicit ForeignKeysLifted(const Database& database) : database_(database) {
    execute(database_, "PRAGMA foreign_keys = off");
  }
  ForeignKeysLifted(const ForeignKeysLifted&) = delete;
  ForeignKeysLifted& operator=(const ForeignKeysLifted&) = delete;
  ~ForeignKeysLifted() { sqlite3_exec(database_.handle(), "PRAGMA foreign_keys = on", nullptr, nullptr, nullptr); }

 private:
  const Database& database_;
};

void require_sound_references(const Database& database) {
  const std::string table = query_text(database, "SELECT \"table\" FROM pragma_foreign_key_check");
  if (!table.empty()) {
    throw Error("database " + database.origin() + " cannot be brought up to date: a row of " + table +
                    " refers to a missing row. Restore it from a copy, or move it aside and search again",
                0);
  }
}

}  // namespace

void migrate(Database& database, int target_version) {
  require_own_or_empty(database);
  require_own_objects(database);
  if (database.schema_version() == target_version) {
    return;
  }
  add_digest_function(database);
  add_hardware_function(database);
  // A migration may make a table anew that others refer to, https://www.sqlite.org/lang_altertable.html, section 7.
  const ForeignKeysLifted lifted(database);
  Transaction transaction(database, TransactionKind::kWrite);
  // Another process may have migrated while this one waited for the lock.
  require_own_or_empty(database);
  const int version = database.schema_version();
  for (const auto& file : embedded::db_migrations()) {
    if (migration_number(file.path) > version && migration_number(file.path) <= target_version) {
      execute(database, std::string(file.contents));
    }
  }
  require_sound_references(database);
  execute(database, "PRAGMA application_id = " + std::to_string(kApplicationId));
  execute(database, "PRAGMA user_version = " + std::to_string(target_version));
  transaction.commit();
}

void require_schema(const Database& database) {
  require_own_schema(application_id(database), database.schema_version(), database.origin());
  if (database.schema_version() < 1) {
    throw Error("database " + database.origin() +
                    " holds nothing yet: the pgtune that began it was stopped. Make it with 'pgtune search' or name "
                    "another with --db",
                0);
  }
  require_own_objects(database);
}

}  // namespace pgtune::db
