// SPDX-License-Identifier: MIT
// Brings a database to the schema of this program, with the scripts of db/migrations.
#pragma once

#include "db/database.hpp"

namespace pgtune::db {

/// Creates the schema in an empty database or applies the missing migrations, in one transaction. Throws Error for
/// another application's database or a newer version, changing nothing.
void migrate(Database& database);

/// Throws Error unless the database is pgtune's, of this program's version or an older one.
void require_schema(const Database& database);

}  // namespace pgtune::db
