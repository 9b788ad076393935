// SPDX-License-Identifier: MIT
// `pgtune doctor`, the part about files: configuration, database, file system, space.
#pragma once

#include <filesystem>
#include <vector>

#include "tool/pgtune/cli/paths.hpp"
#include "tool/pgtune/doctor/doctor_check.hpp"

namespace pgtune::tool {

/// Looks, and changes nothing: a database that is not there yet is not created.
[[nodiscard]] std::vector<Check> file_checks(const Paths& paths, const std::filesystem::path& database);

}  // namespace pgtune::tool
