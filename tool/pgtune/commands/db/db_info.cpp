// SPDX-License-Identifier: MIT
// `pgtune db info`: path, size, schema version and what the database holds.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "db/queries/queries.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/commands/db/db_commands.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

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

}  // namespace

std::unique_ptr<Command> make_db_info_command() { return std::make_unique<InfoCommand>(); }

}  // namespace pgtune::tool
