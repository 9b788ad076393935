// SPDX-License-Identifier: MIT
// A command's process context: paths, terminal, the database, the command line as typed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "db/database.hpp"
#include "db/upkeep/content_check.hpp"
#include "tool/pgtune/cli/catalogue.hpp"
#include "tool/pgtune/cli/paths.hpp"
#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tool/pgtune/cli/user_config.hpp"

namespace pgtune::tool {

class Context {
 public:
  /// `terminal` must outlive the context.
  Context(Paths paths, Terminal& terminal, std::string command_line, db::ColumnChecks record_checks)
      : paths_(std::move(paths)),
        terminal_(terminal),
        command_line_(std::move(command_line)),
        record_checks_(std::move(record_checks)) {}

  [[nodiscard]] const Paths& paths() const { return paths_; }
  [[nodiscard]] Terminal& terminal() { return terminal_; }
  [[nodiscard]] const Catalogue& catalogue() const { return catalogue_; }
  /// As typed into a shell: stored with a session.
  [[nodiscard]] const std::string& command_line() const { return command_line_; }

  /// The column checks of all tables, including the rooms', for db::damage().
  [[nodiscard]] const db::ColumnChecks& record_checks() const { return record_checks_; }

  /// The user's defaults, read at first use. Throws the errors of UserConfig::load.
  [[nodiscard]] const UserConfig& config() const;

  /// The database of `option` (--db), else of PGTUNE_DB, else of the configuration file, else the one of paths().
  /// Throws db::Error.
  [[nodiscard]] db::Database open_database(const std::string& option, db::OpenMode mode) const;
  /// The file open_database() would open.
  [[nodiscard]] std::filesystem::path database_path(const std::string& option) const;

 private:
  Paths paths_;
  Terminal& terminal_;
  Catalogue catalogue_;
  std::string command_line_;
  db::ColumnChecks record_checks_;
  mutable std::optional<UserConfig> config_;
};

}  // namespace pgtune::tool
