// SPDX-License-Identifier: MIT
// pgtune search: finds the fastest variant for each problem and remembers it.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/options/number_options.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"
#include "tool/pgtune/cli/options/strategy_options.hpp"
#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/commands/search_options.hpp"
#include "tool/pgtune/measuring/announcement.hpp"
#include "tool/pgtune/measuring/known_gpu.hpp"
#include "tool/pgtune/measuring/measuring_run.hpp"
#include "tool/pgtune/measuring/stored_counters.hpp"
#include "tool/pgtune/report/dry_run.hpp"
#include "tool/pgtune/report/result_json.hpp"
#include "tool/pgtune/report/result_text.hpp"
#include "tool/pgtune/simulate/trained_model.hpp"
#include "tuner/session/answer/answered.hpp"
#include "tuner/session/expected_search.hpp"

namespace pgtune::tool {
namespace {

/// What problems have in common that the same templates compute: dtype, type of C and epilogue.
using KindOfProblem = std::tuple<Dtype, ElementType, std::string>;

KindOfProblem kind_of(const Problem& problem) {
  return {problem.dtype, problem.type_of_c(), to_string(problem.epilogue)};
}

/// What the command line asks for.
struct SearchTask {
  MeasuringOptions measuring;
  std::string effort;  ///< said before anything is measured; empty: none was asked for
  std::vector<Problem> problems;
  struct Templates {
    space::TemplateSet on_gpu, in_replay;  ///< they differ in whether presets leave anything out
  };
  std::map<KindOfProblem, Templates> templates;
  bool dry_run = false, counters = false;

  [[nodiscard]] const space::TemplateSet& templates_of(const Problem& problem, std::optional<Source> source) const {
    const Templates& own = templates.at(kind_of(problem));
    return source == Source::kReplay ? own.in_replay : own.on_gpu;
  }
};

struct Effort {
  const char* name;
  double seconds;  ///< for each problem
};
constexpr std::array kEfforts{Effort{"quick", 10}, Effort{"normal", 60}, Effort{"thorough", 600}};

const Effort& parse_effort(const std::string& word) {
  for (const Effort& effort : kEfforts) {
    if (word == effort.name) return effort;
  }
  throw CommandError(ErrorKind::kUsage, fmt::format("unknown --effort '{}'. Give quick, normal or thorough.", word));
}

/// At most 80 columns a line.
std::string answered_note(const session::Answer& answer, const DeviceInfo& device) {
  if (answer.board == device.uuid)
    return fmt::format("Answered from the database ({}); --force measures again.", answer.finished_at);
  return fmt::format(
      "Answered from the database ({}) by another GPU of this class;\n--this-board measures on this one.",
      answer.finished_at);
}

ExitCode show_result(Terminal& terminal, ResultDocument& results, const SearchOutcome& outcome,
                     std::optional<ExitCode> signal) {
  const session::SearchResult& result = outcome.result;
  results.add([&] { return result_text(outcome, terminal); }, [&] { return result_json(outcome); });
  if (result.from_store) terminal.note(answered_note(*result.answer, outcome.device.info));
  if (const auto known = result.counts.failed.find(OutcomeKind::kQuarantined); known != result.counts.failed.end())
    terminal.note(fmt::format("{} not run, because the same build crashed or hung before; --retry-failed tries again.",
                              known->second));
  if (result.interrupted || result.budget_reached || result.gave_up) {
    terminal.note(fmt::format("Stopped early {}.", result.interrupted ? "by a signal"
                                                   : result.gave_up   ? "because round after round was void, see notes"
                                                                      : "at the end of the budget, as asked"));
    terminal.note("What was measured is stored: the same command goes on from here.");
  }
  if (result.enough)
    terminal.note(fmt::format(
        "{}", fmt::join(wrap_text(fmt::format("Ended before all was tried: what is left{} is expected to gain less "
                                              "than the margin of ties. --budget N with a larger N tries more, up "
                                              "to all.",
                                              outcome.templates.goes_beyond_presets() ? " of the presets" : ""),
                                  kTextWidth),
                        "\n")));
  return exit_code(result, signal);
}

/// Only says what would be searched.
ExitCode plan(Context& context, const SearchTask& task, ResultDocument& results) {
  const MeasuringOptions& options = task.measuring;
  const DeviceChoice choice = choose_device_to_plan(context, options.device);
  const auto lock = options.clock.on(choice.source);
  const bool unknown_clock = lock && !lock->mhz;
  session::SessionOptions session = options.session;
  if (lock && lock->mhz) session.conditions.locked_sm_clock_hz = *lock->mhz * 1e6;
  announce(context.terminal(), {.choice = choice,
                                .session = session,
                                .database = options.database,
                                .planning = true,
                                .clock_unknown = unknown_clock});
  std::optional<db::Database> database;
  if (!unknown_clock && std::filesystem::exists(options.database))
    database = db::Database::open(options.database, db::OpenMode::kReadOnly);
  std::optional<DatabaseStore> store;
  if (database) store.emplace(*database);
  for (const Problem& problem : task.problems) {
    const auto [device, templates] = answering(choice, task.templates_of(problem, choice.source), problem);
    const DryRun run = dry_run(problem, templates, device, session, store ? &*store : nullptr);
    results.add([&] { return dry_run_text(run); }, [&] { return dry_run_json(run); });
  }
  return ExitCode::kDone;
}

/// Where the database answers everything about this machine's GPU, so that it need not even be looked for; nothing
/// where it does not.
std::optional<ExitCode> answer_without_gpu(Context& context, const SearchTask& task, ResultDocument& results) {
  const MeasuringOptions& options = task.measuring;
  if (!std::filesystem::exists(options.database)) return std::nullopt;
  session::SessionOptions session = options.session;
  if (const auto& lock = options.clock.request) {
    if (!lock->mhz) return std::nullopt;  // which clock it will be shows once it is locked
    session.conditions.locked_sm_clock_hz = *lock->mhz * 1e6;
  }
  db::Database database = db::Database::open(options.database, db::OpenMode::kReadWriteCreate);
  const auto info =
      known_gpu(database, options.device, process_environment, "/proc/driver/nvidia",
                [&](const std::string& uuid) { return device::gpu_limits(context.paths().worker.string(), uuid); });
  if (!info) return std::nullopt;
  DatabaseStore store(database);
  std::vector<session::Answer> found;
  std::vector<std::optional<CounterReport>> counters;
  for (const Problem& problem : task.problems) {
    const session::StoreKey key{problem, task.templates_of(problem, Source::kGpu), *info, Source::kGpu,
                                session.conditions};
    auto answer = session::answered_already(store, key, session);
    if (!answer) return std::nullopt;
    auto& known = counters.emplace_back();
    if (task.counters && !(known = stored_report(store, key, compared_contenders(*answer, answer->baseline, 1))))
      return std::nullopt;
    found.push_back(std::move(*answer));
  }
  const DeviceChoice choice = gpu_choice(*info, 0);
  announce(context.terminal(), {choice, session, options.database});
  ExitCode code = ExitCode::kDone;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Problem& problem = task.problems[i];
    const SearchOutcome outcome{with_counts(problem, found[i].baseline.counts),
                                task.templates_of(problem, Source::kGpu),
                                choice,
                                session.conditions,
                                session::result_from_store(std::move(found[i])),
                                options.database,
                                std::move(counters[i])};
    code = worse(code, show_result(context.terminal(), results, outcome, std::nullopt));
  }
  return code;
}

ExitCode search(Context& context, const SearchTask& task, ResultDocument& results) {
  Terminal& terminal = context.terminal();
  const std::vector<DeviceChoice> choices = choose_devices(context, task.measuring.device);
  for (const auto& [kind, templates] : task.templates) {
    for (const space::TemplateId& id : templates.on_gpu.ids())
      terminal.detail(fmt::format("template  {} {}", id.name, id.content_hash));
  }
  const auto search_on = [&](MeasuringRun& run, const Problem& problem) -> Shown {
    const Answering by = answering(run.choice(), task.templates_of(problem, run.choice().source), problem);
    SearchOutcome outcome{
        problem, by.templates, by.device, run.session().conditions, run.search(problem, by), task.measuring.database};
    outcome.problem = with_counts(std::move(outcome.problem), outcome.result.baseline.counts);
    if (const auto& answer = outcome.result.answer; task.counters && answer && !run.signals().exit_code()) {
      std::vector<ContenderCounters> contenders = compared_contenders(*answer, outcome.result.baseline, 1);
      if (outcome.result.from_store) outcome.counters = run.stored_counters(problem, by, contenders);
      if (!outcome.counters) outcome.counters = run.counters(problem, by, std::move(contenders));
    }
    return [&, signal = run.signals().exit_code(), outcome = std::move(outcome)] {
      return show_result(terminal, results, outcome, signal);
    };
  };
  const auto begun = [&](MeasuringRun& run, const Problem& problem) {
    return run.is_begun(problem, answering(run.choice(), task.templates_of(problem, run.choice().source), problem));
  };
  return measure(context, task.measuring, choices, task.problems, results, search_on, begun);
}

class SearchCommand final : public SearchOptions {
 public:
  std::string name() const override { return "search"; }
  std::string description() const override { return "Find the fastest kernel for one or more shapes, and remember it"; }
  std::string examples() const override {
    return "pgtune search --shape 4096x4096x4096\n"
           "pgtune search --shapes shapes.txt --layout nt --budget 60s --json\n"
           "pgtune search --shape 4096x4096x4096 --dtype bf16 --epilogue bias,gelu\n"
           "pgtune search --shape 4096x4096x4096 --lock-clocks=1500 --power\n"
           "pgtune search --shape 4096x4096x4096 --counters\n"
           "pgtune search --shape 4096x4096x4096 --retry-failed\n"
           "pgtune search --shape 4096x4096x4096 --strategy local --budget 64\n"
           "pgtune search --shape 4096x4096x4096 --device 1 --this-board\n"
           "pgtune search --shape 8192x8192x8192 --device 0,1,2,3 --split\n"
           "pgtune search --shape 512x512x512 --device replay --dry-run\n"
           "pgtune search --operation softmax --size M=4096,N=8192 --dtype bf16";
  }

  void add_options(CommandLine& app) override {
    const char* group = "Search";
    problems_.add_to(app);
    add_template_option(app, template_).group(group);
    grid_
        .add_to(app,
                "full of a search by model on a GPU, which tries what presets hold first and in turn with the "
                "rest; else preset")
        .group(group);
    app.add_option(
           "--budget", budget_,
           "For each problem: a time (60s, 5m) or a number of variants (500), all of which are tried however little is "
           "left to gain (default: all there are, fewer where the strategy (model) expects the rest of the presets to "
           "gain less than the margin of ties)")
        .option_text("TIME|N")
        .group(group);
    app.add_option(
           "--effort", effort_,
           "Instead of a budget: quick (10 s a problem), normal (60 s) or thorough (10 minutes), longer where the "
           "rounds at the power cap take longer, less where the strategy (model) expects the rest of the presets to "
           "gain less "
           "than the margin of ties")
        .option_text("NAME")
        .group(group);
    add_strategy_option(app, strategy_).group(group);
    measuring_.add_to(app, {.group = group});
    app.add_option("--objective", objective_,
                   "What is best: time (default), energy (joules of a GEMM) or edp (energy times time); energy is "
                   "measured of all finalists")
        .option_text("NAME")
        .group(kMeasuringGroup);
    app.add_flag("--full", full_,
                 "No cuts: every variant that is right gets all rounds of the race; slow, for studies of the race")
        .group(kMeasuringGroup);
    app.add_option("--settled", settled_,
                   "At the power cap, race so many of the fastest variants, each in a settled sample of full length "
                   "(a second); without it 25 in shorter ones")
        .option_text("N")
        .group(kMeasuringGroup);
    app.add_flag("--split", split_,
                 "With several GPUs of a class: screen each problem's variants on all of them at once; race and final "
                 "stay on the first, because boards differ")
        .group(group);
    app.add_flag("--force", force_, "Measure again what the database already answers").group(group);
    app.add_flag("--this-board", this_board_,
                 "Measure on this very GPU what only other GPUs of its class have measured so far")
        .group(group);
    app.add_flag("--retry-failed", retry_failed_,
                 "Try again what crashed or hung in earlier searches and is quarantined since")
        .group(group);
    app.add_flag("--counters", counters_,
                 "The winner's hardware counters too, beside cuBLASLt's, with what they say, read by the toolkit's "
                 "profiler (ncu)")
        .group(group);
    app.add_flag("--dry-run", dry_run_, "Say what would be searched, and stop").group(group);
  }

  SearchRequest request(Context& context) const override {
    SearchTask task = read(context);
    return {std::move(task.problems), std::move(task.measuring.session), task.measuring.compile.jobs};
  }

  ExitCode run(Context& context) override {
    const SearchTask task = read(context);
    if (!task.effort.empty()) context.terminal().note(task.effort);
    ResultDocument results(context.terminal(), task.measuring.json, task.problems.size());
    const ExitCode code = task.dry_run ? plan(context, task, results) : answer(context, task, results);
    results.finish();
    return code;
  }

 private:
  static ExitCode answer(Context& context, const SearchTask& task, ResultDocument& results) {
    const auto answered = answer_without_gpu(context, task, results);
    return answered ? *answered : search(context, task, results);
  }

  [[nodiscard]] SearchTask read(Context& context) const {
    SearchTask task;
    task.measuring = measuring_.read(context);
    task.problems = problems_.problems();
    task.dry_run = dry_run_;
    task.counters = counters_;
    session::SessionOptions& session = task.measuring.session;
    if (!budget_.empty()) session.budget = parse_budget(budget_);
    if (!strategy_.empty()) {
      require_strategy(strategy_);
      session.strategy = session.replay_strategy = strategy_;
    } else if (context.config().strategy) {
      session.strategy = *context.config().strategy;
    }
    // Of a strategy that cannot say when it is enough all is wanted, also where another's answer had enough.
    const bool learns = search::find_strategy(session.strategy)->asks_expectation;
    session.stop_when_enough = !effort_.empty() || (budget_.empty() && !full_ && learns);
    for (const Problem& problem : task.problems) {
      const KindOfProblem kind = kind_of(problem);
      if (task.templates.contains(kind)) continue;
      const space::TemplateSet set = problems_.templates_for(context.catalogue(), template_, problem);
      task.templates.insert({kind, {grid_.of(set, learns && !full_), grid_.of(set, false)}});
    }
    if (!effort_.empty()) take_effort(task);
    OwnTemplates templates;
    for (const auto& [kind, set] : task.templates) templates.push_back(set.in_replay);
    session.predictor = trained_model_before(context, task.measuring.database, templates);
    session.settled_clocks = trained_settled_clocks(context, task.measuring.database, std::move(templates));
    const auto objective = session::parse_objective(objective_);
    if (!objective)
      throw CommandError(ErrorKind::kUsage,
                         fmt::format("unknown --objective '{}'. Give time, energy or edp.", objective_));
    session.objective = *objective;
    session.full = full_;
    if (!settled_.empty()) session.settled_entrants = static_cast<std::size_t>(parse_count("--settled", settled_, 2));
    task.measuring.split = split_;
    session.force = force_;
    session.this_board = this_board_;
    session.retry_failed = retry_failed_;
    return task;
  }

  /// A time, and an end where the strategy can say that there is nothing left to gain.
  void take_effort(SearchTask& task) const {
    if (!budget_.empty()) throw CommandError(ErrorKind::kUsage, "--effort and --budget exclude each other. Give one.");
    const Effort& effort = parse_effort(effort_);
    task.measuring.session.budget.seconds = effort.seconds;
    const bool says = search::find_strategy(task.measuring.session.strategy)->asks_expectation;
    double all_s = 0;
    for (const Problem& problem : task.problems)
      all_s += session::expected_search(problem, task.measuring.session, std::thread::hardware_concurrency()).seconds;
    task.effort = fmt::format(
        "effort    {}: {} a problem, about {} in all{}", effort.name, duration_text(effort.seconds),
        duration_text(all_s),
        says ? ", less where little is left to gain" : "; --strategy model ends when little is left to gain");
  }

  ProblemOptions problems_;
  MeasuringArguments measuring_;
  GridOption grid_;
  std::string template_, budget_, effort_, strategy_, objective_ = "time", settled_;
  bool force_ = false, this_board_ = false, retry_failed_ = false, full_ = false, dry_run_ = false, split_ = false,
       counters_ = false;
};

}  // namespace

std::unique_ptr<SearchOptions> make_search_options() { return std::make_unique<SearchCommand>(); }
std::unique_ptr<Command> make_search_command() { return std::make_unique<SearchCommand>(); }

}  // namespace pgtune::tool
