// SPDX-License-Identifier: MIT
// Whether the tables, indexes and views of a file are the ones pgtune makes. A file from elsewhere could define others
// under the same names, or triggers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "db/database.hpp"

namespace pgtune::db {

/// One line for each object that is missing, differs from what the migrations make for the file's version, or acts on
/// pgtune's tables (triggers, indexes). Tables and views of other names are the owner's business. Throws Error.
[[nodiscard]] std::vector<std::string> foreign_objects(const Database& database);

/// Throws Error where foreign_objects() finds any.
void require_own_objects(const Database& database);

/// A hash of the tables, indexes and views of a database, and the one noted for what the migrations make for a version,
/// which a file's is compared with first.
[[nodiscard]] std::string schema_digest(const Database& database);
[[nodiscard]] std::string_view noted_schema_digest(int version);

}  // namespace pgtune::db
