// SPDX-License-Identifier: MIT
// `pgtune db dump`: everything as JSON lines.
#include "db/upkeep/dump.hpp"

#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/commands/db/db_commands.hpp"

namespace pgtune::tool {
namespace {

class DumpCommand final : public Command {
 public:
  std::string name() const override { return "dump"; }
  std::string description() const override {
    return "Print everything as JSON lines, in an order that depends on content only";
  }
  std::string examples() const override {
    return "pgtune db dump > results.jsonl\n"
           "pgtune db dump --db a.db | sha256sum";
  }

  void add_options(CommandLine& app) override { add_database_option(app, database_); }

  ExitCode run(Context& context) override {
    const db::Database database = context.open_database(database_, db::OpenMode::kReadOnly);
    Terminal& terminal = context.terminal();
    db::dump(database, [&](const std::string& line) {
      terminal.print(line);
      terminal.print("\n");
    });
    return ExitCode::kDone;
  }

 private:
  std::string database_;
};

}  // namespace

std::unique_ptr<Command> make_db_dump_command() { return std::make_unique<DumpCommand>(); }

}  // namespace pgtune::tool
