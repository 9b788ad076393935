// SPDX-License-Identifier: MIT
// `pgtune export header`: the winners as a C++17 header, to be called or to be read.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/number_options.hpp"
#include "tool/pgtune/export/callable_export.hpp"
#include "tool/pgtune/export/coverage.hpp"
#include "tool/pgtune/export/cpp_names.hpp"
#include "tool/pgtune/export/header_writer.hpp"
#include "tool/pgtune/export/result_choice.hpp"
#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {
namespace {

HeaderRow header_row(const StoredResult& result) {
  const session::RankedVariant& best = result.answer.best();
  return {.device = result.device,
          .problem = result.problem,
          .variant = best.variant,
          .template_hash = result.row.variant_origin.content_hash,
          .source = result.row.source,
          .finished_at = result.row.finished_at,
          .enlarged_shape = result.answer.baseline.enlarged_shape,
          .sampling = result.answer.sampling,
          .time_s = best.time_s,
          .tflops = best.tflops,
          .ratio = best.ratio_to_baseline,
          .ratio_low = best.ratio_low,
          .ratio_high = best.ratio_high};
}

/// Rows a table can hold: one for each device name, problem and template; a measured one beats a replayed one, then the
/// newer wins. The best by the same order has the version of its template that the table is of: rows of others (maybe
/// with other parameters) are left out.
std::vector<HeaderRow> choose_rows(const std::vector<StoredResult>& results, Terminal& terminal) {
  std::map<std::string, const StoredResult*> leading;
  for (const StoredResult& result : results) {
    const StoredResult*& known = leading[result.row.variant_origin.name];
    if (known == nullptr || is_better(result, *known)) known = &result;
  }
  std::vector<const StoredResult*> chosen;
  for (const StoredResult& result : results) {
    if (result.row.variant_origin.content_hash !=
        leading.at(result.row.variant_origin.name)->row.variant_origin.content_hash) {
      terminal.note(fmt::format("left out {}: tuned with another version of template {}", result.problem.title(),
                                result.row.variant_origin.name));
      continue;
    }
    const auto same = std::find_if(chosen.begin(), chosen.end(), [&](const StoredResult* other) {
      return other->device.name == result.device.name && other->problem == result.problem &&
             other->answer.best().variant.template_name == result.answer.best().variant.template_name;
    });
    if (same == chosen.end()) {
      chosen.push_back(&result);
    } else if (is_better(result, **same)) {
      *same = &result;
    }
  }
  std::vector<HeaderRow> rows;
  for (const StoredResult* result : chosen) rows.push_back(header_row(*result));
  return rows;
}

/// Written under a temporary name and renamed, so that a reader never sees half a header; what is there and no plain
/// file (a device, a pipe, a link) is written to instead of replaced.
void write_file(const std::filesystem::path& path, const std::string& text) {
  std::error_code error;
  const auto there = std::filesystem::symlink_status(path, error);
  const bool replace = !std::filesystem::exists(there) || std::filesystem::is_regular_file(there);
  const std::filesystem::path written = replace ? fmt::format("{}.tmp", path.string()) : path.string();
  std::ofstream file(written, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  error.clear();
  if (file && replace) std::filesystem::rename(written, path, error);
  if (!file || error) {
    if (replace) std::filesystem::remove(written, error);
    throw CommandError(
        ErrorKind::kEnvironment,
        fmt::format("cannot write {}; give a path in a folder that exists, is writable and has room", path.string()));
  }
}

class ExportCommand final : public Command {
 public:
  std::string name() const override { return "export"; }
  std::string description() const override { return "Write the winners as code"; }
  std::string examples() const override {
    return "pgtune export header -o best_gemm.hpp\n"
           "pgtune export header --on H200 --namespace my::gemm";
  }

  void add_options(CommandLine& app) override {
    app.require_command();
    CommandLine header = app.add_command(
        "header", "A C++17 header that a program calls: the kernels, and what chooses and launches them");
    filter_.add_to(header);
    header.add_option("-o,--output", output_, "File to write (default: standard output)").option_text("FILE");
    header
        .add_option("--namespace", name_space_,
                    "C++ namespace of the header (default: best_gemm; of a table pgtune_best)")
        .option_text("NAME");
    header
        .add_option("--neighbour-loss", neighbour_loss_,
                    "Serve problems near tuned ones where that was seen to lose at most so much time in the median, in "
                    "percent (default: 3)")
        .option_text("PERCENT");
    header
        .add_option("--coverage", coverage_,
                    "Write nothing: show what the shapes of a file (as --shapes takes) would be served with")
        .option_text("FILE");
    header.add_flag("--table", table_, "Instead a constexpr table of the best variants' parameters, and a lookup");
  }

  ExitCode run(Context& context) override {
    if (table_ && !coverage_.empty())
      throw CommandError(ErrorKind::kUsage, "--coverage is of the header that programs call. Leave out --table.");
    if (name_space_.empty()) name_space_ = table_ ? "pgtune_best" : "best_gemm";
    if (const auto why = why_no_namespace(name_space_))
      throw CommandError(ErrorKind::kUsage,
                         fmt::format("--namespace '{}' cannot be used: {}. Give identifiers joined by ::, such as "
                                     "my::gemm.",
                                     name_space_, *why));
    const double neighbour_loss = parse_real("--neighbour-loss", neighbour_loss_);
    const std::vector<StoredResult> results = filter_.load(context);
    if (results.empty()) {
      context.terminal().error(filter_.nothing_found(context));
      return ExitCode::kNothingValid;
    }
    return table_ ? write_table(context, results) : write_callable(context, results, neighbour_loss / 100);
  }

 private:
  ExitCode write_table(Context& context, const std::vector<StoredResult>& results) {
    const std::vector<HeaderRow> rows = choose_rows(results, context.terminal());
    write(context, write_header(rows, name_space_), rows.size());
    return ExitCode::kDone;
  }

  ExitCode write_callable(Context& context, const std::vector<StoredResult>& results, double neighbour_loss) {
    const bool to_file = !output_.empty() && output_ != "-";
    const CallableHeader content =
        callable_export(context, results, filter_.open_database(context),
                        {.name_space = name_space_,
                         .file_name = to_file ? std::filesystem::path(output_).filename().string() : "best_gemm.hpp",
                         .template_selector = filter_.template_selector(),
                         .largest_loss = neighbour_loss});
    if (content.entries.empty()) {
      context.terminal().error("nothing can be exported; search again with this version of pgtune");
      return ExitCode::kNothingValid;
    }
    if (!coverage_.empty()) {
      context.terminal().print(coverage_text(content, problems_of_file(coverage_)));
      return ExitCode::kDone;
    }
    write(context, write_callable_header(content), content.entries.size());
    return ExitCode::kDone;
  }

  void write(Context& context, const std::string& text, std::size_t entries) const {
    if (output_.empty() || output_ == "-") {
      context.terminal().print(text);
      return;
    }
    write_file(output_, text);
    context.terminal().note(fmt::format("wrote {} with {} entr{}", output_, entries, entries == 1 ? "y" : "ies"));
  }

  ResultFilter filter_;
  std::string output_, name_space_, coverage_, neighbour_loss_ = "3";
  bool table_ = false;
};

}  // namespace

std::unique_ptr<Command> make_export_command() { return std::make_unique<ExportCommand>(); }

}  // namespace pgtune::tool
