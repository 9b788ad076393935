// SPDX-License-Identifier: MIT
// Brings a database to the schema of this program, with the scripts of db/migrations.
#pragma once

#include "db/database.hpp"

namespace pgtune::db {

/// Creates the schema in an empty database or applies the missing migrations up to a version, in one transaction.
/// Throws Error for another application's database, a newer version or a schema that is not pgtune's, changing nothing.
void migrate(Database& database, int target_version = kSchemaVersion);

/// Throws Error unless the database is pgtune's, of this program's version or an older one.
void require_schema(const Database& database);

}  // namespace pgtune::db
