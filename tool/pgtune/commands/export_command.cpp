// SPDX-License-Identifier: MIT
// `pgtune export header`: the winners as a C++17 header for programs. Also hosts the exports of rooms.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/output_file.hpp"
#include "tool/pgtune/export/callable_export.hpp"
#include "tool/pgtune/export/callable_package.hpp"
#include "tool/pgtune/export/coverage.hpp"
#include "tool/pgtune/export/cpp_names.hpp"
#include "tool/pgtune/export/result_choice.hpp"
#include "tool/pgtune/export/verification.hpp"
#include "tool/pgtune/learning/trained_model.hpp"
#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {
namespace {

constexpr const char* kHeaderExamples =
    "pgtune export header -o best_gemm.hpp\n"
    "pgtune export header --operation softmax -o best_softmax.hpp\n"
    "pgtune export header --on H200 --namespace my::gemm\n"
    "pgtune export header --guess shapes.txt -o best_gemm.hpp\n"
    "pgtune export header --library best_gemm";

class ExportCommand final : public Command {
 public:
  explicit ExportCommand(std::vector<std::unique_ptr<Command>> forms) {
    for (auto& form : forms) forms_.push_back({std::move(form), std::nullopt});
  }
  std::string name() const override { return "export"; }
  std::string description() const override { return "Write the winners as code, or what was measured for other tools"; }
  std::string examples() const override {
    std::string lines = kHeaderExamples;
    for (const auto& [form, line] : forms_) lines += "\n" + form->examples();
    return lines;
  }

  void add_options(CommandLine& app) override {
    app.require_command();
    CommandLine header =
        app.add_command("header", "Write a C++17 header: the kernels, with the code that selects and launches them");
    header.add_examples(kHeaderExamples);
    filter_.add_to(header);
    header.add_option("-o,--output", output_, "File to write (default: standard output)").option_text("FILE");
    header
        .add_option("--namespace", name_space_,
                    "C++ namespace of the header (default: best_gemm; without GEMMs best_ and the operation's name, or "
                    "best_kernels of several)")
        .option_text("NAME");
    header
        .add_option("--neighbour-loss", neighbour_loss_,
                    "Serve problems near tuned ones where the median loss is at most PERCENT (default: 3)")
        .option_text("PERCENT");
    header
        .add_option(
            "--coverage", coverage_,
            "Write nothing: print what would serve each shape of FILE (as for --shapes, or with --operation --sizes)")
        .option_text("FILE");
    header
        .add_option("--guess", guess_,
                    "Add kernels for the untuned shapes of FILE (as for --shapes), which a model of other searches "
                    "expects to be the fastest")
        .option_text("FILE");
    header.add_flag("--split", split_, "Write the kernels to a source beside the header (FILE.cpp), compiled once");
    header
        .add_option("--library", library_,
                    "Write a folder with a CMake package instead: header, source, and a C interface")
        .option_text("FOLDER");
    header.add_flag("--jit", jit_,
                    "Embed sources instead of machine code: NVRTC compiles them for the GPU that the program finds");
    header.add_flag("--verify", verify_,
                    "Fail where no GPU of the header's class is here to verify it (with one, it always is)");
    header.add_flag("--no-verify", no_verify_, "Write the header without running its kernels");
    header.add_flag("--json", json_, "Print --coverage as JSON, with each kernel's template and variant");
    header.show_first({"--db", "--on", "--output", "--namespace", "--neighbour-loss", "--coverage", "--guess",
                       "--split", "--library", "--jit", "--verify", "--no-verify", "--shape", "--dtype",
                       "--operation"});
    for (auto& [form, line] : forms_) {
      line = app.add_command(form->name(), form->description());
      line->add_examples(form->examples());
      form->add_options(*line);
    }
  }

  ExitCode run(Context& context) override {
    for (const auto& [form, line] : forms_) {
      if (line->parsed()) return form->run(context);
    }
    check_forms();
    if (const auto why = name_space_.empty() ? std::nullopt : why_no_namespace(name_space_))
      throw CommandError(ErrorKind::kUsage,
                         fmt::format("--namespace '{}' cannot be used: {}. Give identifiers joined by ::, such as "
                                     "my::gemm.",
                                     name_space_, *why));
    const double neighbour_loss = parse_real("--neighbour-loss", neighbour_loss_);
    if (neighbour_loss < 0 || neighbour_loss > 100)
      throw CommandError(ErrorKind::kUsage,
                         fmt::format("--neighbour-loss is a percentage from 0 to 100, not {}.", neighbour_loss_));
    if (!coverage_.empty() && filter_.operation() == nullptr) covered_problems_ = filter_.problems_of_file(coverage_);
    if (!guess_.empty()) guessed_problems_ = filter_.problems_of_file(guess_);
    std::vector<StoredResult> results = filter_.load(context);
    // A header's launch may follow any work, so it must not begin before that has ended.
    if (const auto chained = std::erase_if(results, [](const auto& result) { return result.problem.chained; }))
      context.terminal().note(
          fmt::format("{} of chained launches left out: a header launches its kernels one by one.", chained));
    std::vector<db::FamilyRow> families = filter_.load_families(context);
    if (results.empty() && families.empty()) {
      context.terminal().error(filter_.nothing_found(context));
      return ExitCode::kNothingValid;
    }
    if (name_space_.empty()) name_space_ = families.empty() ? default_namespace(results) : "best_gemm";
    return write_header(context, results, std::move(families), neighbour_loss / 100);
  }

 private:
  /// Throws CommandError (usage) if two options select different outputs.
  void check_forms() const {
    if (filter_.operation() != nullptr && !guess_.empty())
      throw CommandError(ErrorKind::kUsage, "--guess is about GEMMs. Leave out --operation or --guess.");
    if (!library_.empty() && (split_ || !output_.empty() || !coverage_.empty()))
      throw CommandError(ErrorKind::kUsage,
                         "--library writes a folder of its own. Leave out -o, --split and --coverage.");
    if (!coverage_.empty() && (split_ || !output_.empty()))
      throw CommandError(ErrorKind::kUsage, "--coverage writes no header. Leave out -o and --split.");
    if (json_ && coverage_.empty())
      throw CommandError(ErrorKind::kUsage, "--json prints what --coverage shows. Give both, or leave it out.");
    if (jit_ && (split_ || !library_.empty()))
      throw CommandError(ErrorKind::kUsage,
                         "--jit writes sources, which are small, in one header. Leave out --split and --library.");
    if (verify_ && (no_verify_ || !coverage_.empty()))
      throw CommandError(ErrorKind::kUsage,
                         "--verify runs the kernels that are written. Leave out --no-verify and --coverage.");
    if (split_ && (output_.empty() || output_ == "-"))
      throw CommandError(ErrorKind::kUsage, "--split writes two files. Name the header with -o FILE.hpp.");
    const std::string header = std::filesystem::path(output_).filename().string();
    if (std::any_of(header.begin(), header.end(),
                    [](unsigned char c) { return c == '"' || c == '\\' || std::iscntrl(c); }))
      throw CommandError(ErrorKind::kUsage,
                         fmt::format("-o '{}' cannot stand in an #include. Give a name without quotes, backslashes and "
                                     "line breaks.",
                                     output_));
    if (split_ && std::filesystem::path(output_).extension() == ".cpp")
      throw CommandError(ErrorKind::kUsage,
                         "-o is the header's name, and --split writes the source beside it, with "
                         ".cpp. Give -o another ending, such as .hpp.");
  }

  ExitCode write_header(Context& context, const std::vector<StoredResult>& results, std::vector<db::FamilyRow> families,
                        double neighbour_loss) {
    CallableOptions options{.name_space = name_space_,
                            .file_name = file_name(),
                            .include_folders = filter_.include_folders(),
                            .template_selector = filter_.template_selector(),
                            .operation = filter_.operation(),
                            .largest_loss = neighbour_loss,
                            .jit = jit_,
                            .families = std::move(families)};
    if (!guess_.empty()) {
      options.guessed_problems = guessed_problems_;
      options.guess = guesser(context);
    }
    const CallableHeader content = callable_export(context, results, filter_.open_database(context), options);
    if (content.entries.empty() && content.families.empty()) {
      context.terminal().error("nothing can be exported, for the reasons above");
      return ExitCode::kNothingValid;
    }
    if (!coverage_.empty()) {
      const std::vector<Problem> problems =
          filter_.operation() != nullptr ? problems_of_sizes(content, coverage_) : covered_problems_;
      context.terminal().print(json_ ? coverage_json(content, problems).dump(2) + '\n'
                                     : coverage_text(content, problems, context.terminal()));
      return ExitCode::kDone;
    }
    const bool in_two = split_ || !library_.empty();
    const ExportedText text = in_two ? write_split_header(content) : ExportedText{write_callable_header(content), ""};
    if (!no_verify_) {
      const auto verified = verify_export(context, content, text, verify_);
      if (!verified) {
        context.terminal().error("nothing was written, because of what is wrong above");
        return ExitCode::kNothingValid;
      }
      context.terminal().note(*verified);
    }
    if (!library_.empty()) {
      write_library(context, content);
    } else {
      if (split_) write_output_file(std::filesystem::path(output_).replace_extension(".cpp"), text.source);
      write(context, text.header, content);
    }
    return ExitCode::kDone;
  }

  /// The header's name in the output's text.
  [[nodiscard]] std::string file_name() const {
    if (!library_.empty()) return package_name(name_space_) + ".hpp";
    return output_.empty() || output_ == "-" ? package_name(name_space_) + ".hpp"
                                             : std::filesystem::path(output_).filename().string();
  }

  [[nodiscard]] std::string default_namespace(const std::vector<StoredResult>& results) const {
    std::set<std::string> operations;
    for (const StoredResult& result : results) operations.insert(result.problem.operation_name());
    return operations.contains(std::string(kGemmName)) ? "best_gemm"
           : operations.size() == 1                    ? "best_" + *operations.begin()
                                                       : "best_kernels";
  }

  void write_library(Context& context, const CallableHeader& content) const {
    for (const PackageFile& file : write_package(content)) {
      const std::filesystem::path path = std::filesystem::path(library_) / file.path;
      std::error_code error;
      std::filesystem::create_directories(path.parent_path(), error);
      if (error)
        throw CommandError(ErrorKind::kEnvironment, fmt::format("cannot make the folder {}: {}; give --library a path "
                                                                "where folders can be made",
                                                                path.parent_path().string(), error.message()));
      write_output_file(path, file.text);
    }
    const std::string name = package_name(content.name_space);
    context.terminal().note(fmt::format("wrote {} with {}: find_package({} CONFIG) gives {}::{}", library_,
                                        contents_text(content), name, name, name));
  }

  /// Throws CommandError (usage) if there is nothing to learn from.
  [[nodiscard]] std::function<Result<GuessedVariant>(const Problem&, const DeviceInfo&)> guesser(
      Context& context) const {
    const auto model = trained_model(context, filter_.database_path(context), {}, search::Validation::kFiveFold)();
    if (model == nullptr)
      throw CommandError(ErrorKind::kUsage,
                         "--guess has nothing to learn from: this build has no recording, and the database no search.");
    return [&context, model](const Problem& problem, const DeviceInfo& device) -> Result<GuessedVariant> {
      const auto guess = guess_variant(*model, context.catalogue().select("", problem), problem, device);
      if (!guess) return fail(ErrorKind::kUsage, "no variant of a built-in template is legal for it on " + device.name);
      if (!guess->seen_device || guess->loss.tables == 0)
        return fail(ErrorKind::kUsage, "nothing that was measured says how good a guess on " + device.name + " is");
      return GuessedVariant{guess->variant, guess->loss.median,
                            fmt::format("{}, by {} searches of problems that the model was not trained on",
                                        loss_text(guess->loss), guess->loss.tables)};
    };
  }

  static std::string contents_text(const CallableHeader& content) {
    const std::size_t entries = content.entries.size(), families = content.families.size();
    std::string out = fmt::format("{} entr{}", entries, entries == 1 ? "y" : "ies");
    if (families > 0) out += fmt::format(" and {} famil{}", families, families == 1 ? "y" : "ies");
    return out;
  }

  void write(Context& context, const std::string& text, const CallableHeader& content) const {
    if (output_.empty() || output_ == "-") {
      context.terminal().print(text);
      return;
    }
    write_output_file(output_, text);
    context.terminal().note(fmt::format("wrote {} with {}", output_, contents_text(content)));
    constexpr std::size_t kLargeHeader = 1'000'000;
    if (!split_ && text.size() > kLargeHeader)
      context.terminal().note(
          fmt::format("it has {:.1f} MB, which every file that includes it reads; with --split the "
                      "kernels are in a source of their own",
                      1e-6 * static_cast<double>(text.size())));
  }

  ResultFilter filter_;
  std::vector<std::pair<std::unique_ptr<Command>, std::optional<CommandLine>>> forms_;  ///< of rooms
  std::vector<Problem> covered_problems_, guessed_problems_;  ///< of --coverage (of GEMM) and --guess
  std::string output_, name_space_, coverage_, guess_, library_, neighbour_loss_ = "3";
  bool split_ = false, verify_ = false, no_verify_ = false, jit_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_export_command(std::vector<std::unique_ptr<Command>> forms) {
  return std::make_unique<ExportCommand>(std::move(forms));
}

}  // namespace pgtune::tool
