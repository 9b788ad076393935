// SPDX-License-Identifier: MIT
// Whether the tables, indexes and views of a file are the ones pgtune makes. A file from elsewhere could define others
// under the same names, or triggers.
#pragma once

#include <string>
#include <vector>

#include "db/database.hpp"

namespace pgtune::db {

/// One line for each object that is missing, differs from what pgtune makes, or acts on pgtune's tables (triggers,
/// indexes). Tables and views of other names are the owner's business. `database` must be of this program's schema.
/// Throws Error.
[[nodiscard]] std::vector<std::string> foreign_objects(const Database& database);

/// Throws Error where foreign_objects() finds any.
void require_own_objects(const Database& database);

}  // namespace pgtune::db
