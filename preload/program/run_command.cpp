// SPDX-License-Identifier: MIT
// pgtune run: starts an unchanged program with the preload library in front of its cuBLAS.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstring>

#include "preload/program/compare_report.hpp"
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
#include "tuner/util/count_text.hpp"

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
  std::string description() const override { return "Run a program with tuned kernels, or record its GEMMs"; }
  std::string examples() const override {
    return "pgtune run --trace shapes.txt -- python serve.py\n"
           "pgtune search --shapes shapes.txt\n"
           "pgtune run --compare -- python serve.py\n"
           "pgtune run --serve -- python serve.py";
  }

  void add_options(CommandLine& app) override {
    const char* group = "Run";
    const auto add = [&](const char* name, std::string& target, const char* text, const char* description) {
      return app.add_option(name, target, description).option_text(text).group(group);
    };
    add("--trace", trace_, "FILE", "Write the program's GEMMs as a list for search --shapes, the heaviest first");
    top_option_ = add("--top", top_, "N", "Shapes that the list has at most (default: 200)");
    app.add_flag("--serve", serve_, "Answer calls of cuBLAS with faster kernels of the database").group(group);
    app.add_flag("--compare", compare_, "Run the program without and with --serve in turn, and print what was gained")
        .group(group);
    rounds_option_ = add("--rounds", rounds_, "N", "With --compare: runs of each kind (default: 3)");
    add("--kernels", kernels_, "LIB", "Serve the library of an earlier run");
    add("--deny", deny_, "FILE", "Shapes that are left to cuBLAS, as for search --shapes");
    add("--check", check_, "shadow|N",
        "Compare with cuBLAS's results: all calls, and serve none, or the first N of each problem");
    add("--workspace", workspace_, "MIB", "Memory that pgtune may take for a call's workspace (default: 0)");
    app.add_option("--f32", f32_, "Search (--trace) or serve float32 by these kernels, which are less accurate")
        .option_text("tf32x3|tf32")
        .one_of({"tf32x3", "tf32"})
        .group(group);
    add_database_option(app, database_);
    app.add_option("PROGRAM", program_, "The program and its arguments, after --; its exit code is pgtune's")
        .option_text("-- PROGRAM ...")
        .required();
  }

  ExitCode run(Context& context) override {
    if ((trace_.empty() ? 0 : 1) + (serve_ ? 1 : 0) + (compare_ ? 1 : 0) != 1)
      throw CommandError(ErrorKind::kUsage, "give one of --trace FILE, --serve and --compare.");
    if (!trace_.empty() &&
        !(kernels_.empty() && deny_.empty() && check_.empty() && workspace_.empty() && database_.empty()))
      throw CommandError(ErrorKind::kUsage,
                         "--kernels, --deny, --check, --workspace and --db go with --serve and --compare.");
    if (top_option_.given() && trace_.empty()) throw CommandError(ErrorKind::kUsage, "--top goes with --trace.");
    if (rounds_option_.given() && !compare_) throw CommandError(ErrorKind::kUsage, "--rounds goes with --compare.");
    if (!kernels_.empty() && !database_.empty())
      throw CommandError(ErrorKind::kUsage, "kernels come from --kernels or from --db. Give one.");
    if (process_environment(preload::kRunSwitch) == "off") {
      context.terminal().note("PGTUNE_RUN=off: nothing is recorded or served. Unset it to use pgtune run.");
      return static_cast<ExitCode>(value_or_throw(run_program(program_, {})));
    }
    return serve_ ? serve(context) : compare_ ? compare(context) : trace(context);
  }

 private:
  ExitCode trace(Context& context) {
    const auto top = static_cast<std::size_t>(parse_count("--top", top_, 1));
    const bool to_output = trace_ == "-";
    if (!to_output) require_output_file(trace_);
    const ScratchFolder ledgers = value_or_throw(ScratchFolder::make());
    const int exit_code = run_recorded(context, ledgers, {});
    const RecordedGemms recorded = read_ledgers(ledgers.path());
    const auto f32 = f32_.empty() ? std::nullopt : std::optional(value_or_throw(parse_dtype(f32_)));
    const TraceList list = trace_list(recorded, one_line(program_), top, tf32(), f32);
    try {
      to_output ? context.terminal().print(list.text) : write_output_file(trace_, list.text);
    } catch (const CommandError&) {
      context.terminal().print(list.text);  // the program ran for it
      throw;
    }
    if (list.calls > 0)
      context.terminal().note(fmt::format("{}: {} to search, {:.1f} % of the GPU time of {}.",
                                          to_output ? "list" : trace_, counted(list.shapes, "shape"),
                                          list.searched_share * 100, counted(list.calls, "call")));
    for (const std::string& line : unseen_report(recorded)) context.terminal().note(line);
    return exit_code_of(exit_code, recorded, true);
  }

  ExitCode serve(Context& context) {
    const ScratchFolder folder = value_or_throw(ScratchFolder::make()), ledgers = value_or_throw(ScratchFolder::make());
    const int exit_code = run_recorded(context, ledgers, serving(context, folder.path()));
    const RecordedGemms recorded = read_ledgers(ledgers.path());
    for (const std::string& line : serve_report(recorded, tf32())) context.terminal().note(line);
    return exit_code_of(exit_code, recorded, !check_.empty());
  }

  ExitCode compare(Context& context) {
    const int rounds = parse_rounds(rounds_);
    const ScratchFolder folder = value_or_throw(ScratchFolder::make()), traced = value_or_throw(ScratchFolder::make()),
                        served = value_or_throw(ScratchFolder::make());
    const auto with = serving(context, folder.path());
    const std::string each = counted(rounds, "time");
    context.terminal().note(
        fmt::format("The program runs {} times: once traced, then {} without kernels and {} with them.", 2 * rounds + 1,
                    each, each));
    int exit_code = run_recorded(context, traced, {});
    Compared compared;
    for (int i = 0; i < 2 * rounds && exit_code == 0; ++i) {
      const bool with_kernels = i % 4 == 1 || i % 4 == 2;  // neither kind is always the first of a pair
      const auto start = std::chrono::steady_clock::now();
      exit_code = with_kernels ? run_recorded(context, served, with) : value_or_throw(run_program(program_, {}));
      (with_kernels ? compared.with_s : compared.without_s)
          .push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    if (exit_code != 0) {
      context.terminal().error(fmt::format("a run of the program ended with {}: nothing is compared", exit_code));
      return static_cast<ExitCode>(exit_code);
    }
    compared.without = read_ledgers(traced.path());
    compared.with = read_ledgers(served.path());
    context.terminal().print(compare_text(compared, tf32()));
    return exit_code_of(0, compared.with, true);
  }

  /// The program's, unless that says success where a result is wrong or not `all` processes were recorded.
  static ExitCode exit_code_of(int program, const RecordedGemms& recorded, bool all) {
    if (program != 0) return static_cast<ExitCode>(program);
    if (any_wrong(recorded)) return ExitCode::kNothingValid;
    return all && recorded.lacked_room ? ExitCode::kEnvironment : ExitCode::kDone;
  }

  /// The variables that make the preload library serve.
  std::map<std::string, std::string> serving(Context& context, const std::filesystem::path& folder) {
    std::map<std::string, std::string> out;
    if (!deny_.empty()) {
      write_output_file(folder / "deny", denied());
      out[preload::kDenyVariable] = (folder / "deny").string();
    }
    if (!check_.empty()) {
      if (check_ != "shadow") (void)parse_count("--check is not shadow, and", check_, 1);
      out[preload::kCheckVariable] = check_;
    }
    if (!workspace_.empty()) {
      (void)parse_count("--workspace", workspace_, 0);
      out[preload::kWorkspaceVariable] = workspace_;
    }
    if (!f32_.empty()) {
      const SumError error = traits(value_or_throw(parse_dtype(f32_))).error;
      context.terminal().note(fmt::format(
          "--f32 {}: each product may be off by {:.1e} of itself, each addition by {:.1e}; strict float32: 0, {:.1e}.",
          f32_, error.product, error.addition, traits(Dtype::kF32).error.addition));
      out[preload::kF32Variable] = f32_;
    }
    if (kernels_.empty()) {
      const auto library = kernel_library(context, database_);
      if (!library)
        throw CommandError(ErrorKind::kEnvironment,
                           "the database has no GEMM kernel that is faster than cuBLASLt. Run pgtune search first.");
      context.terminal().note("kernels: " + library->string());
      out[preload::kKernelsVariable] = library->string();
    } else {
      out[preload::kKernelsVariable] = std::filesystem::absolute(kernels_).string();
      if (!is_kernel_library(kernels_))
        throw CommandError(
            ErrorKind::kUsage,
            fmt::format("'{}' is no library of kernels. Give one that an earlier 'pgtune run --serve' named.",
                        kernels_));
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

  /// The program's exit code; its processes leave their ledgers in the folder.
  [[nodiscard]] int run_recorded(Context& context, const ScratchFolder& ledgers,
                                 std::map<std::string, std::string> environment) const {
    std::filesystem::path library = preload_library(context.paths());
    if (library.string().find_first_of(" :") != std::string::npos) {  // LD_PRELOAD is a list with either between names
      const std::filesystem::path copy = ledgers.path() / "library" / library.filename();
      std::filesystem::create_directory(copy.parent_path());
      std::filesystem::copy_file(library, copy, std::filesystem::copy_options::skip_existing);
      library = copy;
    }
    environment["LD_PRELOAD"] = library.string();
    if (const auto others = process_environment("LD_PRELOAD")) environment["LD_PRELOAD"] += ":" + *others;
    environment[preload::kLedgerFolder] = ledgers.path().string();
    return value_or_throw(run_program(program_, environment));
  }

  /// See preload::arithmetic_of().
  static bool tf32() { return process_environment("NVIDIA_TF32_OVERRIDE") != "0"; }

  std::string trace_, top_ = "200", rounds_ = "3", kernels_, deny_, check_, workspace_, f32_, database_;
  bool serve_ = false, compare_ = false;
  Option top_option_, rounds_option_;
  std::vector<std::string> program_;
};

}  // namespace

void register_preload(Rooms& rooms) { rooms.commands.push_back(std::make_unique<RunCommand>()); }

}  // namespace pgtune::tool
