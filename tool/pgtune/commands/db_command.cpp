// SPDX-License-Identifier: MIT
// `pgtune db`: a command with sub-commands. Those that only read a database are here; those that write its content
// elsewhere are in db_content_commands.cpp.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "db/queries/queries.hpp"
#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/help_formatter.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/commands/db_commands.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

/// The database and its write-ahead log.
std::uintmax_t bytes_with_log(const std::string& path) {
  std::uintmax_t bytes = 0;
  for (const std::string& file : {path, path + "-wal"}) {
    std::error_code missing;
    const std::uintmax_t size = std::filesystem::file_size(file, missing);
    if (!missing) bytes += size;
  }
  return bytes;
}

class VacuumCommand final : public Command {
 public:
  std::string name() const override { return "vacuum"; }
  std::string description() const override {
    return "Return the space of dropped results, and print the sizes before and after";
  }
  std::string examples() const override {
    return "pgtune db vacuum\n"
           "pgtune db vacuum --db results.db";
  }

  void add_options(CommandLine& app) override {
    add_database_option(app, database_);
    add_json_option(app, json_);
  }

  ExitCode run(Context& context) override {
    // A missing database is not created.
    static_cast<void>(context.open_database(database_, db::OpenMode::kReadOnly));
    db::Database database = context.open_database(database_, db::OpenMode::kReadWriteCreate);
    const std::uintmax_t before = bytes_with_log(database.origin());
    database.vacuum();
    const std::uintmax_t after = bytes_with_log(database.origin());
    if (json_) {
      const nlohmann::json out = {{"path", database.origin()}, {"bytes_before", before}, {"bytes_after", after}};
      context.terminal().print(fmt::format("{}\n", out.dump(2)));
      return ExitCode::kDone;
    }
    context.terminal().print(fmt::format("{}: {:.2f} MB, was {:.2f} MB\n", database.origin(),
                                         static_cast<double>(after) / 1e6, static_cast<double>(before) / 1e6));
    return ExitCode::kDone;
  }

 private:
  std::string database_;
  bool json_ = false;
};

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
    for (const std::string& problem : problems)  // which may quote any bytes of the file
      print_wrapped(context.terminal(), harmless(problem), Style::kPlain);
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

class InfoCommand final : public Command {
 public:
  std::string name() const override { return "info"; }
  std::string description() const override { return "Path, size, schema version and what it holds"; }
  std::string examples() const override {
    return "pgtune db info\n"
           "pgtune db info --db results.db --json";
  }

  void add_options(CommandLine& app) override {
    add_database_option(app, database_);
    add_json_option(app, json_);
  }

  ExitCode run(Context& context) override {
    const db::Database database = context.open_database(database_, db::OpenMode::kReadOnly);
    const db::Totals totals = db::totals(database);
    const int version = database.schema_version();
    const std::string journal = database.journal_mode();
    std::error_code unknown_size;
    const auto bytes = std::filesystem::file_size(database.origin(), unknown_size);
    Terminal& terminal = context.terminal();
    if (json_) {
      const json out = {{"path", database.origin()}, {"bytes", unknown_size ? 0 : bytes},
                        {"schema_version", version}, {"journal_mode", journal},
                        {"rows", totals.rows},       {"outcomes", totals.outcomes}};
      terminal.print(fmt::format("{}\n", out.dump(2)));
      return ExitCode::kDone;
    }
    terminal.print(fmt::format("{}\n{:.2f} MB, schema version {}, journal {}\n\n", database.origin(),
                               unknown_size ? 0.0 : static_cast<double>(bytes) / 1e6, version, journal));
    TextTable rows({{"table"}, {"rows", Align::kRight}});
    for (const auto& [table, count] : totals.rows) rows.add_row({table, std::to_string(count)});
    terminal.print(rows.text());
    if (!totals.outcomes.empty()) {
      TextTable outcomes({{"outcome"}, {"trials", Align::kRight}});
      for (const auto& [outcome, count] : totals.outcomes) outcomes.add_row({outcome, std::to_string(count)});
      terminal.print(fmt::format("\n{}", outcomes.text()));
    }
    return ExitCode::kDone;
  }

 private:
  std::string database_;
  bool json_ = false;
};

class DbCommand final : public Command {
 public:
  DbCommand() {
    commands_.emplace_back(std::make_unique<InfoCommand>(), std::nullopt);
    commands_.emplace_back(std::make_unique<CheckCommand>(), std::nullopt);
    for (std::unique_ptr<Command>& command : make_db_content_commands())
      commands_.emplace_back(std::move(command), std::nullopt);
    commands_.emplace_back(std::make_unique<VacuumCommand>(), std::nullopt);
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
  if (output == "-")
    throw CommandError(ErrorKind::kUsage, "a database cannot be written to standard output; give -o a file name");
  // An unreadable path cannot be written either; the writer reports that error.
  std::error_code unreadable;
  if (std::filesystem::exists(std::filesystem::symlink_status(output, unreadable)))
    throw CommandError(ErrorKind::kUsage, fmt::format("{} exists already; give a new file name", output));
}

}  // namespace pgtune::tool
