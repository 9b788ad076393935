// SPDX-License-Identifier: MIT
// `pgtune import`: tables of other tools into the database, for simulations.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "simulate/program/foreign_file.hpp"
#include "simulate/program/foreign_queries.hpp"
#include "simulate/program/room.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tuner/util/count_text.hpp"

namespace pgtune::tool {
namespace {

class ImportCommand final : public Command {
 public:
  std::string name() const override { return "import"; }
  std::string description() const override { return "Read tables of other tools into the database"; }
  std::string examples() const override {
    return "pgtune import kernel_tuner gemm_a100_cache.json --db tables.db\n"
           "pgtune import t4 gemm_T4.json --space gemm.json --db tables.db\n"
           "pgtune simulate --from tables.db --strategy model,random";
  }

  void add_options(CommandLine& app) override {
    app.require_command();
    for (auto& [format, line] : lines_) {
      line = app.add_command(std::string(to_string(format)), format == ForeignFormat::kT4
                                                                 ? "T4 result files of the autotuning community"
                                                                 : "Caches of Kernel Tuner");
      line->add_option("FILES", files_, "Files to read, decompressed").option_text("FILE...").required();
      line->add_option("--space", space_,
                       "T1 file with the parameters' values and the constraints of the tables, kept as text")
          .option_text("FILE");
      add_database_option(*line, database_);
    }
  }

  ExitCode run(Context& context) override {
    ForeignFormat format = ForeignFormat::kT4;
    for (const auto& [own, line] : lines_) {
      if (line->parsed()) format = own;
    }
    std::vector<std::pair<std::string, ForeignTable>> tables;  // all are read before any is kept
    for (const std::string& file : files_) tables.emplace_back(file, read_foreign_table(file, format, space_));
    db::Database database = context.open_database(database_, db::OpenMode::kReadWriteCreate);
    for (const auto& [file, table] : tables) {
      const bool added = db::save_foreign_table(database, {file, table.kernel, table.device, stored_text(table)});
      context.terminal().note(added ? said(table) : fmt::format("{} is in the database already", file));
    }
    return ExitCode::kDone;
  }

 private:
  static std::string said(const ForeignTable& table) {
    std::size_t failed = 0;
    for (const ForeignTable::Row& row : table.rows) failed += row.outcome.kind != OutcomeKind::kOk;
    return fmt::format("{} on {}: {} configurations of {} parameters, {} of them failed, {}", table.kernel,
                       table.device, table.rows.size(), table.parameters.size(), failed,
                       counted(table.constraints.size(), "constraint"));
  }

  std::array<std::pair<ForeignFormat, std::optional<CommandLine>>, 2> lines_{
      std::pair{ForeignFormat::kT4, std::nullopt}, std::pair{ForeignFormat::kKernelTuner, std::nullopt}};
  std::vector<std::string> files_;
  std::string space_, database_;
};

}  // namespace

std::unique_ptr<Command> make_import_command() { return std::make_unique<ImportCommand>(); }

}  // namespace pgtune::tool
