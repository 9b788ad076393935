// SPDX-License-Identifier: MIT
// Brings a database to the schema of this program.
#pragma once

#include <span>

#include "cmake/embedded_file.hpp"
#include "db/database.hpp"

namespace pgtune::db {

/// SQL files: the first makes schema 1 in an empty database, each other one the next schema of the one before.
using SchemaSteps = std::span<const embedded::File>;
/// Those of this program, up to kSchemaVersion.
[[nodiscard]] SchemaSteps schema_steps();

/// Takes the steps that a database lacks, in one transaction. Throws Error for another application's database and for a
/// schema that this program does not know, changing nothing.
void migrate(const Database& database, SchemaSteps steps = schema_steps());

/// Throws Error unless the database is pgtune's and of this program's schema.
void require_schema(const Database& database);

}  // namespace pgtune::db
