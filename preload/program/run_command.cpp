// SPDX-License-Identifier: MIT
// pgtune run: a program that nobody changed, with pgtune before its cuBLAS.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "preload/program/kernel_library.hpp"
#include "preload/program/program_run.hpp"
#include "preload/program/serve_report.hpp"
#include "preload/program/trace_list.hpp"
#include "preload/program/traced_problem.hpp"
#include "preload/shim/ledger_format.hpp"
#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"
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

/// What of a program is not seen, where nothing was.
constexpr const char* kNothingSeen =
    "No call reached cuBLAS: the program may link it statically, or find its functions by dlsym, as JAX does.";

/// The program's end, and what it recorded.
struct Run {
  int exit_code = 0;
  RecordedGemms recorded;
};

class RunCommand final : public Command {
 public:
  std::string name() const override { return "run"; }
  std::string description() const override { return "Run a program with tuned kernels, or record its GEMMs"; }
  std::string examples() const override {
    return "pgtune run --trace shapes.txt -- python serve.py\n"
           "pgtune search --shapes shapes.txt\n"
           "pgtune run --serve -- python serve.py";
  }

  void add_options(CommandLine& app) override {
    const char* group = "Run";
    const auto add = [&](const char* name, std::string& target, const char* text, const char* description) {
      app.add_option(name, target, description).option_text(text).group(group);
    };
    add("--trace", trace_, "FILE", "Write the program's GEMMs as a list for search --shapes, the heaviest first");
    add("--top", top_, "N", "Shapes that the list has at most (default: 200)");
    app.add_flag("--serve", serve_, "Answer calls of cuBLAS with kernels of the database, where these are faster")
        .group(group);
    add("--kernels", kernels_, "LIB", "With --serve: the library of an earlier run, as its note names it");
    add("--deny", deny_, "FILE", "With --serve: shapes that are left to cuBLAS, as for search --shapes");
    add("--check", check_, "shadow|N",
        "With --serve: compare with cuBLAS's results, all calls (and serve none) or the first N of each problem");
    app.add_option("--f32", f32_, "With --serve: serve float32 by these kernels, which are less accurate")
        .option_text("tf32x3|tf32")
        .one_of({"tf32x3", "tf32"})
        .group(group);
    add_database_option(app, database_);
    app.add_option("PROGRAM", program_, "The program and its arguments, after --; its exit code is pgtune's")
        .option_text("-- PROGRAM ...")
        .required();
  }

  ExitCode run(Context& context) override {
    if (trace_.empty() == !serve_) throw CommandError(ErrorKind::kUsage, "give one of --trace FILE and --serve.");
    if (!serve_ && !(kernels_.empty() && deny_.empty() && check_.empty() && f32_.empty()))
      throw CommandError(ErrorKind::kUsage, "--kernels, --deny, --check and --f32 go with --serve.");
    return serve_ ? serve(context) : trace(context);
  }

 private:
  ExitCode trace(Context& context) {
    const auto top = static_cast<std::size_t>(parse_count("--top", top_, 1));
    const Run traced = run_program_with(context, {});
    const TraceList list = trace_list(traced.recorded, one_line(program_), top, tf32());
    write_output_file(trace_, list.text);
    context.terminal().note(list.calls == 0
                                ? kNothingSeen
                                : fmt::format("{}: {} shapes to search, {:.1f} % of the GPU time of {} calls.", trace_,
                                              list.shapes, list.searched_share * 100,
                                              count_text(static_cast<std::int64_t>(list.calls))));
    return static_cast<ExitCode>(traced.exit_code);
  }

  ExitCode serve(Context& context) {
    const ScratchFolder folder;
    const Run served = run_program_with(context, serving(context, folder.path()));
    if (served.recorded.gemms.empty()) context.terminal().note(kNothingSeen);
    if (!served.recorded.gemms.empty()) {
      for (const std::string& line : serve_report(served.recorded, tf32())) context.terminal().note(line);
    }
    if (served.exit_code == 0 && any_wrong(served.recorded)) return ExitCode::kNothingValid;
    return static_cast<ExitCode>(served.exit_code);
  }

  /// The variables that make the preload library serve.
  std::map<std::string, std::string> serving(Context& context, const std::filesystem::path& folder) {
    std::map<std::string, std::string> out;
    if (kernels_.empty()) {
      const auto library = kernel_library(context, database_);
      if (!library)
        throw CommandError(ErrorKind::kEnvironment,
                           "the database has no GEMM kernel that is faster than cuBLASLt. Run pgtune search first.");
      context.terminal().note("kernels: " + library->string());
      out[preload::kKernelsVariable] = library->string();
    } else {
      out[preload::kKernelsVariable] = std::filesystem::absolute(kernels_).string();
      if (!std::filesystem::exists(kernels_))
        throw CommandError(ErrorKind::kUsage, fmt::format("there is no '{}'. Give a library of kernels.", kernels_));
    }
    if (!deny_.empty()) {
      write_output_file(folder / "deny", denied());
      out[preload::kDenyVariable] = (folder / "deny").string();
    }
    if (!check_.empty()) {
      if (check_ != "shadow") (void)parse_count("--check", check_, 1);
      out[preload::kCheckVariable] = check_;
    }
    if (!f32_.empty()) {
      const SumError error = traits(value_or_throw(parse_dtype(f32_))).error;
      context.terminal().note(fmt::format(
          "--f32 {}: each product may be off by {:.1e} of itself, each addition by {:.1e}; strict float32: 0, {:.1e}.",
          f32_, error.product, error.addition, traits(Dtype::kF32).error.addition));
      out[preload::kF32Variable] = f32_;
    }
    return out;
  }

  /// The problems of --deny as the preload library compares them.
  [[nodiscard]] std::string denied() const {
    std::string bytes;
    for (const Problem& problem : ProblemOptions().problems_of_file(deny_)) {
      const auto kernel_problem = kernel_problem_of(problem);
      if (!kernel_problem) continue;
      char raw[sizeof *kernel_problem];
      std::memcpy(raw, &*kernel_problem, sizeof raw);
      bytes.append(raw, sizeof raw);
    }
    return bytes;
  }

  [[nodiscard]] Run run_program_with(Context& context, std::map<std::string, std::string> environment) const {
    const ScratchFolder ledgers;
    if (ledgers.path().empty())
      throw CommandError(ErrorKind::kEnvironment, "no folder for temporary files. Set TMPDIR to one with some space.");
    environment["LD_PRELOAD"] = preload_library(context.paths()).string();
    if (const auto others = process_environment("LD_PRELOAD")) environment["LD_PRELOAD"] += ":" + *others;
    environment[preload::kLedgerFolder] = ledgers.path().string();
    const int exit_code = value_or_throw(run_program(program_, environment));
    return {exit_code, read_ledgers(ledgers.path())};
  }

  /// See preload::arithmetic_of().
  static bool tf32() { return process_environment("NVIDIA_TF32_OVERRIDE") != "0"; }

  std::string trace_, top_ = "200", kernels_, deny_, check_, f32_, database_;
  bool serve_ = false;
  std::vector<std::string> program_;
};

}  // namespace

void register_preload(Rooms& rooms) { rooms.commands.push_back(std::make_unique<RunCommand>()); }

}  // namespace pgtune::tool
