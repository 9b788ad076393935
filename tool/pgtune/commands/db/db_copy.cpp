// SPDX-License-Identifier: MIT
// `pgtune db copy`: a compact copy, fit to be used as a recording.
#include <fmt/format.h>

#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/commands/db/db_commands.hpp"

namespace pgtune::tool {
namespace {

class CopyCommand final : public Command {
 public:
  std::string name() const override { return "copy"; }
  std::string description() const override { return "Write a compact single-file copy, fit to be used as a recording"; }
  std::string examples() const override { return "pgtune db copy -o recording.db.zst"; }

  void add_options(CommandLine& app) override {
    add_database_option(app, database_);
    add_output_option(app, output_);
  }

  ExitCode run(Context& context) override {
    require_new_file(output_);
    const db::Database database = context.open_database(database_, db::OpenMode::kReadOnly);
    if (const auto problems = db::damage(database, context.record_checks()); !problems.empty())
      throw db::Error(fmt::format("database {} is damaged ({}). Nothing was copied. Restore it from a copy, or move it "
                                  "aside and search again; 'pgtune db check' lists all that is damaged",
                                  database.origin(), problems.front()),
                      0);
    database.write_compact_copy(output_);
    context.terminal().note(fmt::format("wrote {}", output_));
    return ExitCode::kDone;
  }

 private:
  std::string database_, output_;
};

}  // namespace

std::unique_ptr<Command> make_db_copy_command() { return std::make_unique<CopyCommand>(); }

}  // namespace pgtune::tool
