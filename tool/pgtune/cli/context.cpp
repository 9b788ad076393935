// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/context.hpp"

namespace pgtune::tool {

const UserConfig& Context::config() const {
  if (!config_) config_ = UserConfig::load(paths_.config, process_environment);
  return *config_;
}

std::filesystem::path Context::database_path(const std::string& option) const {
  if (!option.empty()) return option;
  if (!process_environment("PGTUNE_DB") && config().database) return *config().database;
  return paths_.database;
}

db::Database Context::open_database(const std::string& option, db::OpenMode mode) const {
  return db::Database::open(database_path(option), mode);
}

}  // namespace pgtune::tool
