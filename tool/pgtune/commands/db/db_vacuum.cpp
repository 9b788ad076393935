// SPDX-License-Identifier: MIT
// `pgtune db vacuum`: gives unused space back.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/commands/db/db_commands.hpp"

namespace pgtune::tool {
namespace {

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
    return "Give the space of dropped results back; says the sizes before and after";
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
    // What is not there is not made.
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

}  // namespace

std::unique_ptr<Command> make_db_vacuum_command() { return std::make_unique<VacuumCommand>(); }

}  // namespace pgtune::tool
