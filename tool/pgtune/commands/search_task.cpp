// SPDX-License-Identifier: MIT
#include "tool/pgtune/commands/search_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "db/database.hpp"
#include "db/queries/queries.hpp"
#include "db/upkeep/merge.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/learning/trained_model.hpp"
#include "tool/pgtune/measuring/device_choice.hpp"
#include "tool/pgtune/measuring/stored_counters.hpp"
#include "tool/pgtune/report/dry_run.hpp"
#include "tool/pgtune/report/recorded_answer.hpp"
#include "tool/pgtune/report/result_json.hpp"
#include "tool/pgtune/report/result_list.hpp"
#include "tool/pgtune/report/result_text.hpp"
#include "tuner/device/compile_pool.hpp"
#include "tuner/session/answer/answered.hpp"
#include "tuner/session/expected_search.hpp"
#include "tuner/session/pipeline/preparation.hpp"

namespace pgtune::tool {
namespace {

/// Shows results whole, or of a list a line as each ends, unless the terminal is verbose.
class Results {
 public:
  Results(const SearchTask& task, Terminal& terminal, ResultDocument& document)
      : terminal_(terminal), document_(document) {
    if (task.problems.size() > 1 && !task.measuring.json && terminal.verbosity() != Verbosity::kVerbose)
      list_.emplace(task.problems, terminal.output_width());
  }
  void add(const SearchOutcome& outcome) {
    document_.add([&] { return list_ ? list_->line(outcome, terminal_) : result_text(outcome, terminal_); },
                  [&] { return result_json(outcome); });
    (void)terminal_.flush();  // a list may be watched in a file
  }
  void finish() {
    if (list_) terminal_.print(list_->summary());
  }
  [[nodiscard]] bool is_list() const { return list_.has_value(); }
  [[nodiscard]] ResultDocument& document() { return document_; }

 private:
  Terminal& terminal_;
  ResultDocument& document_;
  std::optional<ResultList> list_;
};

SearchOutcome outcome_of(RecordedAnswer recorded, const SearchTask& task, DeviceChoice device) {
  StoredResult& result = recorded.result;
  result.answer.finished_at = result.row.finished_at;
  result.answer.board = result.row.device_uuid;
  device.info = result.device;
  device.description =
      fmt::format("{}, {}, driver {}", result.device.name, result.device.architecture, result.device.driver_version);
  SearchOutcome outcome{result.problem,
                        std::move(recorded.templates),
                        std::move(device),
                        result.conditions,
                        session::result_from_store(std::move(result.answer)),
                        task.measuring.database_option};
  outcome.result.from_store = false;
  outcome.recorded_by = std::move(recorded.pgtune_version);
  outcome.other_versions = std::move(result.other_versions);
  if (task.counters) outcome.counters = CounterReport{.missing = "they are read on a GPU"};
  return outcome;
}

std::string guess_text(const ModelSource& model, const space::TemplateSet& templates, const Problem& problem,
                       const DeviceInfo& device) {
  const auto learned = model();
  const auto guess = learned ? guess_variant(*learned, templates, problem, device) : std::nullopt;
  return guess ? fmt::format(" 'pgtune guess' takes a variant of {} on {}.", guess->variant.template_name, device.name)
               : "";
}

/// Prints the recorded answer for each problem, and stores it in the user's database as recorded. If there is none, it
/// names what the recordings have instead and, unless recordings were requested, the template of `pgtune guess`, in a
/// CommandError (environment). Of several problems each without one is a short line, and the end is kEnvironment.
/// `choice`: of recordings. Throws CommandError, db::Error.
ExitCode print_recorded(Context& context, const SearchTask& task, const DeviceChoice& choice, Results& results) {
  Terminal& terminal = context.terminal();
  const MeasuringOptions& options = task.measuring;
  options.clock.refuse_without_gpu();
  terminal.note(choice.no_gpu.empty() ? "Recorded answers: nothing is run here."
                                      : "No GPU to search on: recorded answers, nothing is run here.");
  if (!choice.no_gpu.empty()) terminal.note(fact_note("cause", choice.no_gpu));
  terminal.detail("database  " + options.database);
  db::Database database = db::Database::open(options.database, db::OpenMode::kReadWriteCreate);
  OwnTemplates templates;
  for (const auto& [kind, set] : task.templates) templates.push_back(set);
  const ModelSource model =  // that of the command it names
      trained_model(context, options.database, std::move(templates), search::Validation::kFiveFold);
  std::size_t missing = 0;
  for (const Problem& problem : task.problems) {
    const space::TemplateSet& wanted = task.templates_of(problem);
    auto recorded = recorded_answer(*choice.recordings, wanted, problem, options.session.conditions,
                                    options.session.objective, choice.info.name);
    if (recorded) {
      db::store_recorded(*recorded->recording, recorded->result.row.session, database);
      const auto ceilings = db::find_ceilings(*recorded->recording, recorded->result.device);
      SearchOutcome outcome = outcome_of(std::move(*recorded), task, choice);
      outcome.ceilings = ceilings;
      results.add(outcome);
      continue;
    }
    if (task.problems.size() == 1) {
      std::string cause = unrecorded_text(*choice.recordings, problem);
      if (!choice.no_gpu.empty()) cause += guess_text(model, wanted, problem, choice.info);
      throw CommandError(ErrorKind::kEnvironment, cause + " Search on a GPU.");
    }
    terminal.error(problem.title() + ": no recorded answer");
    results.document().add_error(problem, "no recorded answer");
    ++missing;
  }
  if (missing == 0) return ExitCode::kDone;
  terminal.error(
      fmt::format("{} of {} problems {} no recorded answer.\nSearch on a GPU, or take the kernels of "
                  "'pgtune guess'.",
                  missing, task.problems.size(), missing == 1 ? "has" : "have"));
  return ExitCode::kEnvironment;
}

/// At most 80 columns per line.
std::string answered_note(const session::Answer& answer, const DeviceInfo& device) {
  if (answer.board == device.uuid)
    return fmt::format("Answered from the database ({}); --force measures again.", answer.finished_at);
  return fmt::format(
      "Answered from the database ({}) by another GPU of this class;\n--this-board measures on this one.",
      answer.finished_at);
}

ExitCode show_result(Terminal& terminal, Results& results, const SearchOutcome& outcome,
                     std::optional<ExitCode> signal) {
  const session::SearchResult& result = outcome.result;
  results.add(outcome);
  if (results.is_list() && !result.interrupted) return exit_code(result, signal);
  if (result.from_store) terminal.note(answered_note(*result.answer, outcome.device.info));
  if (const auto known = result.counts.failed.find(OutcomeKind::kQuarantined); known != result.counts.failed.end())
    terminal.note(fmt::format("{} not run, because the same build crashed or hung before; --retry-failed tries again.",
                              known->second));
  if (result.interrupted || result.budget_reached || result.gave_up) {
    terminal.note(fmt::format("Stopped early {}.", result.interrupted ? "by a signal"
                                                   : result.gave_up   ? "because round after round was void, see notes"
                                                                      : "at the end of the budget, as asked"));
    terminal.note(result.budget_reached ? "What was measured is stored: a larger one goes on from here."
                                        : "What was measured is stored: the same command goes on from here.");
  }
  if (result.enough)
    terminal.note(fmt::format(
        "{}", fmt::join(wrap_text(fmt::format("Ended before all was tried: what is left{} is expected to gain "
                                              "little. --variants N with a larger N tries more, up "
                                              "to all.",
                                              outcome.templates.goes_beyond_presets() ? " of the presets" : ""),
                                  kTextWidth),
                        "\n")));
  return exit_code(result, signal);
}

/// Only prints what would be searched.
ExitCode plan(Context& context, const SearchTask& task, Results& results) {
  const MeasuringOptions& options = task.measuring;
  const DeviceChoice choice = choose_devices_to_plan(context, options.device).front();
  if (!choice.is_gpu()) options.clock.refuse_without_gpu();
  const auto lock = choice.is_gpu() ? options.clock.request : std::nullopt;
  const bool unknown_clock = lock && !lock->mhz;
  session::SessionOptions session = options.session;
  if (lock && lock->mhz) session.conditions.locked_sm_clock_hz = *lock->mhz * 1e6;
  if (task.families.empty())  // else their plan has announced it
    announce(context.terminal(),
             {.choice = choice, .session = session, .database = options.database, .clock_unknown = unknown_clock});
  std::optional<db::Database> database;
  if (!unknown_clock && !db::is_absent(options.database))
    database = db::Database::open(options.database, db::OpenMode::kReadOnly);
  std::optional<DatabaseStore> store;
  if (database) store.emplace(*database);
  for (const Problem& problem : task.problems) {
    const DryRun run = dry_run(problem, task.templates_of(problem), choice, session, store ? &*store : nullptr);
    results.document().add([&] { return dry_run_text(run); }, [&] { return dry_run_json(run); });
  }
  return ExitCode::kDone;
}

/// The device if the database has all answers for this machine's GPU, so that no GPU must be opened; else nothing.
std::optional<ExitCode> answer_without_gpu(Context& context, const SearchTask& task, Results& results) {
  const MeasuringOptions& options = task.measuring;
  if (db::is_absent(options.database)) return std::nullopt;
  session::SessionOptions session = options.session;
  if (const auto& lock = options.clock.request) {
    if (!lock->mhz) return std::nullopt;  // the clock is known once it is locked
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
    const session::StoreKey key{problem, task.templates_of(problem), *info, session.conditions};
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
                                task.templates_of(problem),
                                choice,
                                session.conditions,
                                session::result_from_store(std::move(found[i])),
                                options.database_option,
                                std::move(counters[i]),
                                db::find_ceilings(database, *info)};
    code = worse(code, show_result(context.terminal(), results, outcome, std::nullopt));
  }
  return code;
}

/// Of the parameters' values, legal or not: as many as matters.
std::int64_t space_points(const space::TemplateSet& templates) {
  constexpr std::int64_t kMany = 1'000'000;
  std::int64_t all = 0;
  for (const space::TemplateDefinition& definition : templates.definitions()) {
    std::int64_t points = 1;
    for (const space::Parameter& parameter : definition.parameters)
      points = std::min(kMany, points * static_cast<std::int64_t>(parameter.values.size()));
    all = std::min(kMany, all + points);
  }
  return all;
}

/// How long all of it will take, and why, before anything is measured.
std::string time_note(const SearchTask& task, const std::vector<DeviceChoice>& choices) {
  const MeasuringOptions& options = task.measuring;
  const std::size_t jobs =
      options.compile.jobs > 0 ? options.compile.jobs : device::default_compile_jobs(options.compile.memory_bytes);
  double all_s = 0;
  const double factor = task.budget_factor(choices.size());
  for (const Problem& problem : task.problems) {
    session::SessionOptions session = options.session;
    session.budget = task.budget_of(problem, factor);
    const std::int64_t points = space_points(task.templates_of(problem));
    session.budget.trials = std::min(session.budget.trials.value_or(points), points);
    all_s += session::expected_search(problem, session, std::max<std::size_t>(jobs / choices.size(), 1)).seconds;
  }
  all_s = all_s / static_cast<double>(choices.size()) + session::kExpectedOpening_s;
  const bool ceilings =
      !db::is_absent(options.database) &&
      db::find_ceilings(db::Database::open(options.database, db::OpenMode::kReadOnly), choices.front().info);
  if (!ceilings) all_s += session::expected_ceilings_s(options.session.budget);
  return fact_note("time", fmt::format("about {} in all: {}", duration_text(all_s), task.ends_with));
}

ExitCode search(Context& context, const SearchTask& task, const std::vector<DeviceChoice>& choices, Results& results) {
  Terminal& terminal = context.terminal();
  terminal.note(time_note(task, choices));
  for (const auto& [kind, templates] : task.templates) {
    for (const space::TemplateId& id : templates.ids())
      terminal.detail(fmt::format("template  {} {}", id.name, id.content_hash));
  }
  const double factor = task.budget_factor(choices.size());
  const auto search_on = [&](MeasuringRun& run, const Problem& problem) -> Shown {
    const space::TemplateSet& templates = task.templates_of(problem);
    SearchOutcome outcome{problem,
                          templates,
                          run.choice(),
                          run.session().conditions,
                          run.search(problem, templates, task.budget_of(problem, factor)),
                          task.measuring.database_option};
    outcome.problem = with_counts(std::move(outcome.problem), outcome.result.baseline.counts);
    outcome.ceilings = run.ceilings();
    if (const auto& answer = outcome.result.answer; task.counters && answer && !run.signals().exit_code()) {
      std::vector<ContenderCounters> contenders = compared_contenders(*answer, outcome.result.baseline, 1);
      if (outcome.result.from_store) outcome.counters = run.stored_counters(problem, templates, contenders);
      if (!outcome.counters) outcome.counters = run.counters(problem, templates, std::move(contenders));
    }
    return [&, signal = run.signals().exit_code(), outcome = std::move(outcome)] {
      return show_result(terminal, results, outcome, signal);
    };
  };
  const auto begun = [&](MeasuringRun& run, const Problem& problem) {
    return run.is_begun(problem, task.templates_of(problem));
  };
  Work work{.measure = search_on, .begun = begun};
  // The longest budget first, as the factor assumes.
  if (task.total_s) work.expected_s = [&](const Problem& problem) { return *task.budget_of(problem, factor).seconds; };
  return measure(context, task.measuring, choices, task.problems, results.document(), work);
}

}  // namespace

double SearchTask::budget_factor(std::size_t gpus) const {
  if (!total_s) return 1;
  std::vector<double> longest_first, busy_s(gpus, 0);
  for (const auto& [key, budget] : budgets) longest_first.push_back(budget.seconds.value_or(0));
  std::sort(longest_first.begin(), longest_first.end(), std::greater<>());
  for (const double seconds : longest_first) *std::min_element(busy_s.begin(), busy_s.end()) += seconds;
  const double busiest_s = *std::max_element(busy_s.begin(), busy_s.end());
  return busiest_s > 0 ? *total_s / busiest_s : 1;
}

session::Budget SearchTask::budget_of(const Problem& problem, double factor) const {
  const auto own = budgets.find(problem.key());
  if (own == budgets.end()) return measuring.session.budget;
  session::Budget budget = own->second;
  if (budget.seconds) *budget.seconds *= factor;
  return budget;
}

KindOfProblem kind_of(const Problem& problem) {
  return {problem.dtype, problem.type_of_c(), to_string(problem.epilogue)};
}

ExitCode run(const SearchTask& task, Context& context, ResultDocument& document) {
  Results results(task, context.terminal(), document);
  if (task.dry_run) return plan(context, task, results);
  auto code = answer_without_gpu(context, task, results);
  if (!code) {
    const std::vector<DeviceChoice> choices = choose_devices(context, task.measuring.device);
    code = choices.front().is_gpu() ? search(context, task, choices, results)
                                    : print_recorded(context, task, choices.front(), results);
  }
  results.finish();
  return *code;
}

}  // namespace pgtune::tool
