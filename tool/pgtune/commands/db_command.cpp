// SPDX-License-Identifier: MIT
// `pgtune db`: what is in the database, whether it is sound, and a compact copy of it.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "db/queries.hpp"
#include "tool/pgtune/command_error.hpp"
#include "tool/pgtune/commands.hpp"
#include "tool/pgtune/common_options.hpp"
#include "tool/pgtune/text_table.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

class DbCommand final : public Command {
 public:
  std::string name() const override { return "db"; }
  std::string description() const override { return "Inspect, check or copy the database"; }
  std::string examples() const override {
    return "pgtune db info\n"
           "pgtune db check --db results.db\n"
           "pgtune db copy -o recording.db";
  }

  void add_options(CLI::App& app) override {
    app.require_subcommand(1);
    info_ = app.add_subcommand("info", "Path, size, schema version and what it holds");
    add_database_option(*info_, database_);
    add_json_option(*info_, json_);
    check_ = app.add_subcommand("check", "Verify the file's integrity and its references");
    add_database_option(*check_, database_);
    copy_ = app.add_subcommand("copy", "Write a compact single-file copy, fit to be used as a recording");
    add_database_option(*copy_, database_);
    copy_->add_option("-o,--output", output_, "File to write; must not exist yet")->option_text("FILE")->required();
  }

  ExitCode run(Context& context) override {
    if (*info_) return info(context);
    if (*check_) return check(context);
    return copy(context);
  }

 private:
  ExitCode info(Context& context) {
    const db::Database database = context.open_database(database_, db::OpenMode::kReadOnly);
    const db::Totals totals = db::totals(database);
    const std::optional<db::OldFile>& old_file = database.old_file();
    const int version = old_file ? old_file->schema_version : database.schema_version();
    const std::string journal = old_file ? old_file->journal_mode : database.journal_mode();
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
    if (old_file)
      terminal.note(fmt::format("counted in a copy brought to schema version {}; the next search brings the file to it",
                                database.schema_version()));
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

  ExitCode check(Context& context) {
    const db::Database database = context.open_database(database_, db::OpenMode::kReadOnlyAsIs);
    const std::vector<std::string> problems = database.check();
    for (const std::string& problem : problems) context.terminal().print(fmt::format("{}\n", problem));
    if (problems.empty()) {
      context.terminal().print(fmt::format("{}: sound\n", database.origin()));
      return ExitCode::kDone;
    }
    context.terminal().error(
        fmt::format("{} is damaged: restore it from a copy, or move it aside and search again", database.origin()));
    return ExitCode::kDatabase;
  }

  ExitCode copy(Context& context) {
    // What cannot be looked at cannot be written either: that is the copy's own error to report.
    std::error_code unreadable;
    if (std::filesystem::exists(std::filesystem::symlink_status(output_, unreadable)))
      throw CommandError(ErrorKind::kUsage, fmt::format("{} exists already; give a new file name", output_));
    const db::Database database = context.open_database(database_, db::OpenMode::kReadOnly);
    database.write_compact_copy(output_);
    context.terminal().note(fmt::format("wrote {}", output_));
    return ExitCode::kDone;
  }

  CLI::App* info_ = nullptr;
  CLI::App* check_ = nullptr;
  CLI::App* copy_ = nullptr;
  std::string database_, output_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_db_command() { return std::make_unique<DbCommand>(); }

}  // namespace pgtune::tool
