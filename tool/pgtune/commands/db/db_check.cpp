// SPDX-License-Identifier: MIT
// `pgtune db check`: whether the database is sound.
#include <fmt/format.h>

#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/commands/db/db_commands.hpp"

namespace pgtune::tool {
namespace {

class CheckCommand final : public Command {
 public:
  std::string name() const override { return "check"; }
  std::string description() const override {
    return "Verify the file's integrity, its baselines, its schema and what it holds";
  }
  std::string examples() const override {
    return "pgtune db check\n"
           "pgtune db check --db results.db";
  }

  void add_options(CommandLine& app) override { add_database_option(app, database_); }

  ExitCode run(Context& context) override {
    const db::Database database = context.open_database(database_, db::OpenMode::kReadOnlyAsIs);
    const std::vector<std::string> problems = db::damage(database, context.record_checks());
    for (const std::string& problem : problems) context.terminal().print(fmt::format("{}\n", problem));
    if (problems.empty()) {
      context.terminal().print(fmt::format("{}: sound\n", database.origin()));
      return ExitCode::kDone;
    }
    context.terminal().error(
        fmt::format("{} is damaged: restore it from a copy, or move it aside and search again", database.origin()));
    return ExitCode::kDatabase;
  }

 private:
  std::string database_;
};

}  // namespace

std::unique_ptr<Command> make_db_check_command() { return std::make_unique<CheckCommand>(); }

}  // namespace pgtune::tool
