// SPDX-License-Identifier: MIT
#include "db/migrate.hpp"

#include <charconv>
#include <string>

#include "db/file_header.hpp"
#include "db/statement.hpp"
#include "db/transaction.hpp"
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

}  // namespace

void migrate(Database& database) {
  require_own_or_empty(database);
  if (database.schema_version() == kSchemaVersion) {
    return;
  }
  Transaction transaction(database, TransactionKind::kWrite);
  // Another process may have migrated while this one waited for the lock.
  require_own_or_empty(database);
  const int version = database.schema_version();
  for (const auto& file : embedded::db_migrations()) {
    if (migration_number(file.path) > version) {
      execute(database, std::string(file.contents));
    }
  }
  execute(database, "PRAGMA application_id = " + std::to_string(kApplicationId));
  execute(database, "PRAGMA user_version = " + std::to_string(kSchemaVersion));
  transaction.commit();
}

void require_current_schema(const Database& database) {
  require_own_schema(application_id(database), database.schema_version(), database.origin());
  if (database.schema_version() < kSchemaVersion) {
    throw Error("database " + database.origin() + " was written by an older pgtune (schema version " +
                    std::to_string(database.schema_version()) + ", this one reads " + std::to_string(kSchemaVersion) +
                    ") and is opened for reading only. A search that writes to it brings it up to date",
                0);
  }
}

}  // namespace pgtune::db
