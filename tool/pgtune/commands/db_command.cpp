// SPDX-License-Identifier: MIT
// `pgtune db`: a command with commands of its own, each in a file of commands/db/.
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/help_formatter.hpp"
#include "tool/pgtune/commands/db/db_commands.hpp"

/// The commands, in the order of the help: `name` is made by make_db_<name>_command() of db/db_<name>.cpp, which needs
/// no other declaration.
// clang-format off
#define PGTUNE_DB_COMMANDS(command) \
  command(info) \
  command(check) \
  command(copy) \
  command(merge) \
  command(dump) \
  command(prune) \
  command(vacuum)
// clang-format on

namespace pgtune::tool {

#define PGTUNE_DECLARE(name) std::unique_ptr<Command> make_db_##name##_command();
PGTUNE_DB_COMMANDS(PGTUNE_DECLARE)
#undef PGTUNE_DECLARE

namespace {

class DbCommand final : public Command {
 public:
  DbCommand() {
#define PGTUNE_MAKE(name) commands_.push_back({make_db_##name##_command(), std::nullopt});
    PGTUNE_DB_COMMANDS(PGTUNE_MAKE)
#undef PGTUNE_MAKE
  }
  std::string name() const override { return "db"; }
  std::string description() const override { return "Inspect, check, copy, merge or tidy the database"; }
  std::string examples() const override {
    return "pgtune db info\n"
           "pgtune db check --db results.db\n"
           "pgtune db merge node1.db node2.db -o all.db\n"
           "pgtune db prune --keep 3 --dry-run";
  }

  void add_options(CommandLine& app) override {
    app.require_command();
    for (auto& [command, line] : commands_) {
      line = app.add_command(command->name(), command->description());
      line->add_examples(command->examples());
      command->add_options(*line);
    }
  }

  ExitCode run(Context& context) override {
    for (const auto& [command, line] : commands_) {
      if (line->parsed()) return command->run(context);
    }
    return ExitCode::kUsage;
  }

 private:
  std::vector<std::pair<std::unique_ptr<Command>, std::optional<CommandLine>>> commands_;
};

}  // namespace

std::unique_ptr<Command> make_db_command() { return std::make_unique<DbCommand>(); }

void add_output_option(CommandLine& app, std::string& output) {
  app.add_option("-o,--output", output, "File to write; must not exist yet").option_text("FILE").required();
}

void require_new_file(const std::string& output) {
  // What cannot be looked at cannot be written either: that is the writer's own error to report.
  std::error_code unreadable;
  if (std::filesystem::exists(std::filesystem::symlink_status(output, unreadable)))
    throw CommandError(ErrorKind::kUsage, fmt::format("{} exists already; give a new file name", output));
}

std::string counted(std::int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace pgtune::tool
