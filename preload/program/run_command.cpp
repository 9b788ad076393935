// SPDX-License-Identifier: MIT
// pgtune run: a program that nobody changed, with pgtune before its cuBLAS.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "preload/program/program_run.hpp"
#include "preload/program/trace_list.hpp"
#include "preload/shim/ledger_format.hpp"
#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/output_file.hpp"
#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/rooms.hpp"

namespace pgtune::tool {
namespace {

/// Beside pgtune, or beside the worker where pgtune is installed.
std::filesystem::path preload_library(const Paths& paths) {
  const char* const name = "libpgtune_preload.so";
  const std::filesystem::path beside = own_executable().parent_path() / name;
  std::error_code ignored;
  std::filesystem::path found = std::filesystem::exists(beside, ignored) ? beside : paths.worker.parent_path() / name;
  if (!std::filesystem::exists(found, ignored))
    throw CommandError(
        ErrorKind::kEnvironment,
        fmt::format("{} is neither beside pgtune nor beside pgtune-worker. Install pgtune again.", name));
  return found;
}

/// The command line for a comment of one line.
std::string one_line(const std::vector<std::string>& program) {
  constexpr std::size_t kMost = 200;
  std::string text = fmt::format("{}", fmt::join(program, " ")).substr(0, kMost);
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  return text;
}

class RunCommand final : public Command {
 public:
  std::string name() const override { return "run"; }
  std::string description() const override { return "Run a program and record the GEMMs that it asks of cuBLAS"; }
  std::string examples() const override {
    return "pgtune run --trace shapes.txt -- python serve.py\n"
           "pgtune search --shapes shapes.txt";
  }

  void add_options(CommandLine& app) override {
    const char* group = "Run";
    app.add_option("--trace", trace_, "Write the program's GEMMs as a list for search --shapes, the heaviest first")
        .option_text("FILE")
        .group(group)
        .required();
    app.add_option("--top", top_, "Shapes that the list has at most (default: 200)").option_text("N").group(group);
    app.add_option("PROGRAM", program_, "The program and its arguments, after --; its exit code is pgtune's")
        .option_text("-- PROGRAM ...")
        .required();
  }

  ExitCode run(Context& context) override {
    const auto top = static_cast<std::size_t>(parse_count("--top", top_, 1));
    const ScratchFolder ledgers;
    if (ledgers.path().empty())
      throw CommandError(ErrorKind::kEnvironment, "no folder for temporary files. Set TMPDIR to one with some space.");
    std::string libraries = preload_library(context.paths()).string();
    if (const auto others = process_environment("LD_PRELOAD")) libraries += ":" + *others;
    const int code = value_or_throw(
        run_program(program_, {{"LD_PRELOAD", libraries}, {preload::kLedgerFolder, ledgers.path().string()}}));
    const RecordedGemms recorded = read_ledgers(ledgers.path());
    const bool tf32 = process_environment("NVIDIA_TF32_OVERRIDE") != "0";
    const TraceList list = trace_list(recorded, one_line(program_), top, tf32);
    write_output_file(trace_, list.text);
    if (list.calls == 0) {
      context.terminal().note(
          "No call reached cuBLAS: the program may link it statically, or find its functions by dlsym, as JAX does.");
    } else {
      context.terminal().note(fmt::format("{}: {} shapes to search, {:.1f} % of the GPU time of {} calls.", trace_,
                                          list.shapes, list.searched_share * 100,
                                          count_text(static_cast<std::int64_t>(list.calls))));
    }
    return static_cast<ExitCode>(code);
  }

 private:
  std::string trace_, top_ = "200";
  std::vector<std::string> program_;
};

}  // namespace

void register_preload(Rooms& rooms) { rooms.commands.push_back(std::make_unique<RunCommand>()); }

}  // namespace pgtune::tool
