// SPDX-License-Identifier: MIT
#include "db/migrate.hpp"

#include <string>

#include "db/sqlite/file_header.hpp"
#include "db/sqlite/statement.hpp"
#include "db/sqlite/transaction.hpp"
#include "db_schema.hpp"

namespace pgtune::db {
namespace {

std::int32_t application_id(const Database& database) {
  return static_cast<std::int32_t>(query_integer(database, "PRAGMA application_id"));
}

bool is_empty(const Database& database) {
  return application_id(database) == 0 && query_integer(database, "SELECT count(*) FROM sqlite_schema") == 0;
}

void require_own_or_empty(const Database& database) {
  if (!is_empty(database)) {
    require_own_schema(application_id(database), database.schema_version(), database.origin());
  }
}

}  // namespace

SchemaSteps schema_steps() { return embedded::db_schema(); }

void migrate(const Database& database, SchemaSteps steps) {
  require_own_or_empty(database);
  if (database.schema_version() == static_cast<int>(steps.size())) {
    return;
  }
  Transaction transaction(database, TransactionKind::kWrite);
  // Another process may have taken the steps while this one waited for the lock.
  require_own_or_empty(database);
  for (const auto& step : steps.subspan(static_cast<std::size_t>(database.schema_version()))) {
    execute(database, std::string(step.contents));
  }
  execute(database, "PRAGMA application_id = " + std::to_string(kApplicationId));
  execute(database, "PRAGMA user_version = " + std::to_string(steps.size()));
  transaction.commit();
}

void require_schema(const Database& database) {
  require_own_schema(application_id(database), database.schema_version(), database.origin());
  if (database.schema_version() < kSchemaVersion) {
    throw Error("database " + database.origin() +
                    " holds nothing yet: the pgtune that began it was stopped. Make it with 'pgtune search' or name "
                    "another with --db",
                0);
  }
}

}  // namespace pgtune::db
