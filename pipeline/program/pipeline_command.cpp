// SPDX-License-Identifier: MIT
// pgtune pipeline: finds the fastest way to pass operands in host memory through the GPU.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "pipeline/plan/chunk_plan.hpp"
#include "pipeline/plan/host_nodes.hpp"
#include "pipeline/program/chunk_kernel_builds.hpp"
#include "pipeline/program/pipeline_options.hpp"
#include "pipeline/program/pipeline_outcome.hpp"
#include "pipeline/program/pipeline_store.hpp"
#include "pipeline/program/room.hpp"
#include "pipeline/program/timeline_view.hpp"
#include "pipeline/search/pipeline_device.hpp"
#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/output_file.hpp"
#include "tool/pgtune/cli/terminal/live_line.hpp"
#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/learning/trained_model.hpp"
#include "tool/pgtune/measuring/device_choice.hpp"
#include "tool/pgtune/measuring/gpu_lock.hpp"
#include "tool/pgtune/measuring/signals.hpp"
#include "tuner/model/json.hpp"
#include "tuner/util/count_text.hpp"

namespace pgtune::tool {
namespace {

constexpr int kLeastRounds = 6;  // of which there is an interval

/// The current stage of a search.
std::string work_text(const session::PipelineProgress& progress) {
  using Phase = session::PipelineProgress::Phase;
  std::string best;
  if (progress.best_s > 0)
    best = fmt::format("; best so far {} ms, {:.1f} % of the bound", milliseconds_text(progress.best_s),
                       100 * progress.bound_s / progress.best_s);
  switch (progress.phase) {
    case Phase::kPrepare:
      return "making operands and the float64 reference";
    case Phase::kRates:
      return "measuring copies";
    case Phase::kKernels:
      return "measuring kernels alone";
    case Phase::kSearch:
      return counted(progress.done, "pipeline") + " tried" + best;
    case Phase::kRounds:
      break;
  }
  return fmt::format("round {} of {}{}", progress.done, progress.total, best);
}

/// Lines of which all but the first are indented.
std::string wrapped(const std::string& text) {
  constexpr std::size_t kIndent = 2;
  return fmt::format("{}\n", fmt::join(wrap_text(text, kTextWidth - kIndent), "\n  "));
}

/// The options of the command line.
struct PipelineTask {
  pipeline::StreamedProblem streamed;
  session::PipelineOptions options;
  std::string device, database, svg;
  KernelChoice kernels = KernelChoice::kGuess;
  bool force = false, dry_run = false, wait = false, json = false;
};

class PipelineCommand final : public Command {
 public:
  std::string name() const override { return "pipeline"; }
  std::string description() const override {
    return "Find the fastest way to stream operands from host memory through the GPU";
  }
  std::string examples() const override {
    return "pgtune pipeline --shape 65536x4096x4096 --dtype bf16 --stream A,D\n"
           "pgtune pipeline --shape 4096x65536x4096 --dtype bf16 --stream B\n"
           "pgtune pipeline --shape 65536x4096x4096 --dtype bf16 --kernels cublaslt\n"
           "pgtune pipeline --shape 65536x4096x4096 --dtype bf16 --dry-run\n"
           "pgtune pipeline --shape 16384x4096x4096 --memory pageable --svg lanes.svg\n"
           "pgtune pipeline --shape 16384x4096x4096 --pinned-limit 2048 --json";
  }

  void add_options(CommandLine& app) override {
    const char* group = "Pipeline";
    which_.add_to(app, group);
    app.add_option("--kernels", kernels_,
                   "Kernels of chunks beside cuBLASLt's: guess (default: a stored winner, else the model's guess where "
                   "it is faster), stored (no guesses) or cublaslt (none)")
        .option_text("NAME")
        .group(group);
    app.add_option("--pinned-limit", pinned_limit_mib_,
                   "Host memory that may be pinned at a time, in MiB (default: a quarter of all, and at most half of "
                   "what is free)")
        .option_text("MIB")
        .group(group);
    app.add_option("--budget", budget_, "Time (60s, 5m) after which no pipeline is proposed")
        .option_text("TIME")
        .group(group);
    app.add_option("--pipelines", pipelines_, "Number of pipelines to try").option_text("N").group(group);
    app.add_option("--rounds", rounds_, "Rounds, each with a sample of every pipeline that matters (default: 8)")
        .option_text("N")
        .group(group);
    app.add_option("--seed", seed_, "Seed of the order in rounds (default: 1)").option_text("N").group(group);
    add_device_option(app, device_)
        .description("auto (the first GPU), a GPU's number or UUID, or recording[:FILE]")
        .complete_with({"auto", "recording"})
        .group(group);
    app.add_flag("--wait", wait_, "Wait for a GPU on which another pgtune measures, instead of failing").group(group);
    add_database_option(app, database_).group(group);
    app.add_flag("--force", force_, "Measure again, even where the database has the answer").group(group);
    app.add_flag("--dry-run", dry_run_, "Print what would be searched, and stop").group(group);
    app.add_option("--svg", svg_, "Also write the timeline of the best pipeline as SVG")
        .option_text("FILE")
        .group(kOutputGroup);
    add_json_option(app, json_);
    app.add_flag("-q,--quiet", quiet_, "Results only").group(kOutputGroup);
    app.add_flag("-v,--verbose", verbose_, "Print more details").group(kOutputGroup);
    app.show_first({"--shape", "--dtype", "--layout", "--stream", "--cut", "--memory", "--kernels", "--pinned-limit",
                    "--budget", "--device", "--db", "--force", "--dry-run", "--svg", "--json", "--quiet"});
  }

  ExitCode run(Context& context) override {
    PipelineTask task = read(context);
    ResultDocument results(context.terminal(), task.json, 1);
    const ExitCode code = task.dry_run ? plan(task, results) : search(context, task, results);
    results.finish();
    return code;
  }

 private:
  [[nodiscard]] PipelineTask read(Context& context) const {
    if (quiet_ && verbose_)
      throw CommandError(ErrorKind::kUsage, "--quiet and --verbose exclude each other. Give one.");
    if (quiet_) context.terminal().set_verbosity(Verbosity::kQuiet);
    if (verbose_) context.terminal().set_verbosity(Verbosity::kVerbose);
    PipelineTask task;
    task.streamed = which_.streamed();
    session::PipelineOptions& options = task.options;
    which_.read_into(options);
    options.pinned_limit_bytes = default_pinned_limit();
    if (!pinned_limit_mib_.empty()) {
      constexpr std::int64_t kMostMib = std::int64_t{1} << 30;
      options.pinned_limit_bytes = std::min(parse_count("--pinned-limit", pinned_limit_mib_, 1), kMostMib) << 20;
    }
    if (!budget_.empty()) options.budget.seconds = parse_budget(budget_, "--pipelines");
    if (!pipelines_.empty()) options.budget.trials = parse_count("--pipelines", pipelines_, 1);
    options.rounds = parse_rounds(rounds_, kLeastRounds);
    options.seed = static_cast<std::uint64_t>(parse_count("--seed", seed_, 0));
    task.kernels = parse_word<KernelChoice>("--kernels", kernels_).value_or(KernelChoice::kGuess);
    task.device = device_;
    task.database = context.database_path(database_).string();
    task.svg = svg_;
    task.force = force_;
    task.dry_run = dry_run_;
    task.wait = wait_;
    task.json = json_;
    require_device_name(task.device);
    return task;
  }

  /// The space without a GPU, assuming enough memory.
  static ExitCode plan(const PipelineTask& task, ResultDocument& results) {
    const pipeline::SpaceLimits limits{
        {INT64_MAX, task.options.pinned_limit_bytes}, task.options.cut, task.options.memory, choosable_host_nodes()};
    const pipeline::Space space = pipeline::enumerate(task.streamed, limits);
    const auto cuts = pipeline::cuts_of(task.streamed, limits);
    std::vector<std::string> cut_words;
    for (const pipeline::Cut cut : cuts) cut_words.emplace_back(to_string(cut));
    results.add(
        [&] {
          std::string text = task.streamed.title() + "\n";
          text += fmt::format("{} pipelines, copying {} bytes in and {} out\n", space.candidates.size(),
                              task.streamed.bytes_in(), task.streamed.bytes_out());
          for (const pipeline::Cut cut : cuts) {
            const auto extents = pipeline::chunk_extents(task.streamed.problem, cut);
            text += wrapped(fmt::format("cut along {}, chunks of {}", to_string(cut), fmt::join(extents, " ")));
          }
          if (!space.candidates.empty()) return text;
          for (const std::string& reason : space.reasons) text += wrapped("left out: " + reason);
          return text;
        },
        [&] {
          return nlohmann::json{{"schema", kJsonSchema},
                                {"problem", task.streamed.problem},
                                {"stream", task.streamed.stream_text()},
                                {"cuts", cut_words},
                                {"space", space.candidates.size()},
                                {"excluded", space.reasons},
                                {"pinned_limit_bytes", task.options.pinned_limit_bytes}};
        });
    return space.candidates.empty() ? ExitCode::kNothingValid : ExitCode::kDone;
  }

  static ExitCode search(Context& context, PipelineTask& task, ResultDocument& results) {
    const DeviceChoice choice = choose_device(context, task.device);
    if (choice.is_gpu()) return measure(context, task, choice, results);
    if (std::filesystem::exists(task.database)) {
      const db::Database database = db::Database::open(task.database, db::OpenMode::kReadOnly);
      if (auto stored = recorded_pipeline(database, task.streamed, task.options)) {
        context.terminal().note(fmt::format("There is no GPU here. This is what {} holds of {} ({}).", task.database,
                                            stored->device.name, stored->finished_at));
        return show({task.streamed, stored->device, std::move(stored->answer), stored->device.uuid, true, true}, task,
                    results);
      }
    }
    throw CommandError(ErrorKind::kEnvironment,
                       "there is no GPU to stream through, and the database holds no such pipeline. Give a database "
                       "that has one with --db; --dry-run says what would be searched.");
  }

  static ExitCode measure(Context& context, PipelineTask& task, const DeviceChoice& choice, ResultDocument& results) {
    Terminal& terminal = context.terminal();
    db::Database database = db::Database::open(task.database, db::OpenMode::kReadWriteCreate);
    std::vector<ChosenKernel> kernels = choose_chunk_kernels(
        context, database, task.streamed, choice.info, task.options, task.kernels, guesser(context, task.database));
    task.options.kernels_text = kernels_text(kernels);
    PipelineDatabaseStore store(database, task.streamed, choice.info, task.options);
    PipelineOutcome outcome{task.streamed, choice.info, {}, choice.info.uuid};
    if (!task.force) {
      if (auto stored = store.answer()) {
        outcome.answer = std::move(stored->answer);
        outcome.board = stored->device.uuid;
        outcome.from_database = outcome.any_valid = true;
        terminal.note(fmt::format("Answered from the database ({}); --force measures again.", stored->finished_at));
        return show(outcome, task, results);
      }
    }
    task.options.kernels = build_chunk_kernels(context, std::move(kernels));
    const StopSignals signals;
    const auto lock = lock_gpu(context, choice.info.uuid, fmt::format("GPU {}", *choice.ordinal), task.wait,
                               [&] { return signals.exit_code().has_value(); });
    if (!lock) return signals.exit_code().value_or(ExitCode::kInterrupted);
    terminal.note("device    " + choice.description);
    terminal.note("database  " + task.database);
    const std::chrono::milliseconds timeout = request_timeout(task.streamed);
    auto device = value_or_throw(device::WorkerPipelineDevice::open({.worker_path = context.paths().worker.string(),
                                                                     .gpu = choice.info.uuid,
                                                                     .request_timeout = timeout,
                                                                     .prepare_timeout = timeout}));
    store.begin(context.command_line(), task.options.seed);
    const session::PipelineResult result = run(terminal, task, *device, store, signals);
    if (result.any_valid) {
      store.finish(result.answer);
    } else {
      store.finish(std::nullopt);
    }
    outcome.answer = result.answer;
    outcome.any_valid = result.any_valid;
    const ExitCode shown = show(outcome, task, results);
    if (result.interrupted) {
      terminal.note("Stopped early by a signal. What was measured is stored: the same command goes on from here.");
      return signals.exit_code().value_or(ExitCode::kInterrupted);
    }
    return shown;
  }

  /// The model is fitted at its first use.
  static KernelGuess guesser(Context& context, const std::string& database) {
    return [model = trained_model(context, database, {})](const Problem& problem, const space::TemplateSet& templates,
                                                          const DeviceInfo& device) -> std::optional<Variant> {
      const auto learned = model();
      const auto guess = learned ? guess_variant(*learned, templates, problem, device) : std::nullopt;
      return guess ? std::optional(guess->variant) : std::nullopt;
    };
  }

  static session::PipelineResult run(Terminal& terminal, const PipelineTask& task, device::PipelineDevice& device,
                                     session::PipelineStore& store, const StopSignals& signals) {
    PhaseLine line(terminal);
    const std::string shape = task.streamed.problem.shape();
    return value_or_throw(session::run_pipeline_search(
        task.streamed, device, store, task.options, signals.flag(), [&](const session::PipelineProgress& progress) {
          line.update(static_cast<int>(progress.phase), fmt::format("{}: {}", shape, work_text(progress)));
        }));
  }

  static ExitCode show(const PipelineOutcome& outcome, const PipelineTask& task, ResultDocument& results) {
    results.add([&] { return pipeline_text(outcome); }, [&] { return pipeline_json(outcome); });
    if (!task.svg.empty()) {
      if (!outcome.answer.timeline)
        throw CommandError(ErrorKind::kEnvironment,
                           "there is no timeline to write with --svg; search again with --force");
      write_output_file(
          task.svg,
          timeline_svg(make_schedule(outcome.streamed, outcome.answer.best.candidate), *outcome.answer.timeline,
                       fmt::format("{}: {}", outcome.streamed.title(), outcome.answer.best.candidate.text())));
    }
    return outcome.any_valid ? ExitCode::kDone : ExitCode::kNothingValid;
  }

  WhichPipeline which_;
  std::string kernels_, pinned_limit_mib_, budget_, pipelines_, rounds_ = "8", seed_ = "1";
  std::string device_ = "auto", database_, svg_;
  bool wait_ = false, force_ = false, dry_run_ = false, json_ = false, quiet_ = false, verbose_ = false;
};

}  // namespace

std::unique_ptr<Command> make_pipeline_command() { return std::make_unique<PipelineCommand>(); }

}  // namespace pgtune::tool
