// SPDX-License-Identifier: MIT
// `pgtune export t4` and `export kernel_tuner`: searches' measurements as files of other tools.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <set>

#include "simulate/program/foreign_conversion.hpp"
#include "simulate/program/room.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/output_file.hpp"
#include "tool/pgtune/recording/recordings.hpp"
#include "tuner/util/count_text.hpp"

namespace pgtune::tool {
namespace {

namespace fs = std::filesystem;

/// A file's name has at most 255 bytes; a number and the suffix follow.
constexpr std::size_t kLongestStem = 200;

/// Letters and digits of a table's names, so that an untrusted kernel name is no path and not too long.
std::string file_name(const ForeignTable& table, const std::string& title, std::set<std::string>& taken) {
  std::string stem = table.kernel + '_' + title + '_' + table.device;
  stem.resize(std::min(stem.size(), kLongestStem));
  std::replace_if(
      stem.begin(), stem.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  std::string name = stem;
  for (int again = 2; !taken.insert(name).second; ++again) name = fmt::format("{}_{}", stem, again);
  return name + ".json";
}

/// Why nothing was written, with the titles of the existing tables.
std::string nothing_matches(const std::set<std::string>& titles) {
  if (titles.empty()) return "there is no table of a search on a GPU.";
  constexpr std::size_t kShown = 3;
  const auto end = std::next(titles.begin(), static_cast<std::ptrdiff_t>(std::min(kShown, titles.size())));
  return fmt::format("no table of a search on a GPU matches. --problem takes a part of a title, such as {}{}.",
                     fmt::join(titles.begin(), end, ", "),
                     titles.size() > kShown ? fmt::format(", or one of {} more", titles.size() - kShown) : "");
}

class TableExport final : public Command {
 public:
  explicit TableExport(ForeignFormat format) : format_(format) {}

  std::string name() const override { return std::string(to_string(format_)); }
  std::string description() const override {
    return format_ == ForeignFormat::kT4
               ? "Write what searches measured as T4 result files, one per problem and template"
               : "Write what searches measured as caches of Kernel Tuner";
  }
  std::string examples() const override {
    return fmt::format("pgtune export {} tables --problem '4096x4096x4096 bf16'", name());
  }

  void add_options(CommandLine& app) override {
    app.add_option("FOLDER", folder_, "Where to write the files").option_text("FOLDER").required();
    app.add_option("--from", from_,
                   "Databases with searches or imported tables (default: the recordings in this build)")
        .option_text("FILE")
        .one_value_each();
    app.add_option("--problem", only_, "Only tables with this text in their title, such as '4096x4096x4096 bf16'")
        .option_text("TEXT");
    app.add_option("--template", template_, "Only this template or kernel").option_text("NAME");
  }

  ExitCode run(Context& context) override {
    const KnownTemplates templates(context.catalogue());
    std::set<std::string> taken, titles;
    std::size_t rows = 0;
    for (const std::string& file : from_.empty() ? std::vector<std::string>{""} : from_) {
      for (const db::Database& database : open_recordings(file)) {
        auto tables = recorded_tables(database, templates);
        for (RecordedTable& imported : imported_tables(database)) tables.push_back(std::move(imported));
        for (const RecordedTable& table : tables) {
          titles.insert(table.title());
          if (table.title().find(only_) == std::string::npos) continue;
          for (const ForeignTable& own : foreign_tables_of(table, templates)) {
            if (!template_.empty() && own.kernel != template_) continue;
            if (taken.empty()) {
              std::error_code error;
              fs::create_directories(folder_, error);
              if (error)
                throw CommandError(ErrorKind::kEnvironment,
                                   fmt::format("cannot make the folder {}: {}", folder_, error.message()));
            }
            const std::string name = file_name(own, table.imported ? own.problem : table.title(), taken);
            write_output_file(fs::path(folder_) / name, write_foreign_table(own, format_));
            rows += own.rows.size();
          }
        }
      }
    }
    if (taken.empty()) {
      context.terminal().error(nothing_matches(titles));
      return ExitCode::kNothingValid;
    }
    context.terminal().note(
        fmt::format("wrote {} with {} configurations into {}", counted(taken.size(), "file"), rows, folder_));
    return ExitCode::kDone;
  }

 private:
  ForeignFormat format_;
  std::vector<std::string> from_;
  std::string folder_, only_, template_;
};

}  // namespace

std::unique_ptr<Command> make_table_export(ForeignFormat format) { return std::make_unique<TableExport>(format); }

}  // namespace pgtune::tool
