// SPDX-License-Identifier: MIT
#include "tool/pgtune/context.hpp"

namespace pgtune::tool {

std::filesystem::path Context::database_path(const std::string& option) const {
  return option.empty() ? paths_.database : std::filesystem::path(option);
}

db::Database Context::open_database(const std::string& option, db::OpenMode mode) const {
  return db::Database::open(database_path(option), mode);
}

}  // namespace pgtune::tool
