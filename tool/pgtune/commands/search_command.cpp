// SPDX-License-Identifier: MIT
// pgtune search: finds the fastest variant for each problem and remembers it.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/options/conditions_options.hpp"
#include "tool/pgtune/cli/options/grid_option.hpp"
#include "tool/pgtune/cli/options/number_options.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"
#include "tool/pgtune/cli/terminal/live_line.hpp"
#include "tool/pgtune/commands/commands.hpp"
#include "tool/pgtune/measuring/clock_session.hpp"
#include "tool/pgtune/measuring/database_store.hpp"
#include "tool/pgtune/measuring/device_choice.hpp"
#include "tool/pgtune/measuring/known_gpu.hpp"
#include "tool/pgtune/measuring/signals.hpp"
#include "tool/pgtune/report/announcement.hpp"
#include "tool/pgtune/report/dry_run.hpp"
#include "tool/pgtune/report/result_json.hpp"
#include "tool/pgtune/report/result_text.hpp"
#include "tuner/model/json.hpp"
#include "tuner/session/answer/answered.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

class SearchCommand : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "search"; }
  [[nodiscard]] std::string description() const override {
    return "Find the fastest kernel for one or more shapes, and remember it";
  }
  [[nodiscard]] std::string examples() const override {
    return "pgtune search --shape 4096x4096x4096\n"
           "pgtune search --shapes shapes.txt --layout nt --budget 60s --json\n"
           "pgtune search --shape 4096x4096x4096 --dtype bf16 --epilogue bias,gelu\n"
           "pgtune search --shape 4096x4096x4096 --lock-clocks=1500 --power\n"
           "pgtune search --shape 4096x4096x4096 --retry-failed\n"
           "pgtune search --shape 512x512x512 --device replay --dry-run";
  }
  void add_options(CommandLine& app) override;
  [[nodiscard]] ExitCode run(Context& context) override;

 private:
  struct Item {
    Problem problem;
    space::TemplateSet templates;
  };
  [[nodiscard]] std::vector<Item> items(const Context& context) const;
  [[nodiscard]] session::Options search_options(const Context& context) const;
  bool answer_from_database(Context& context, const std::vector<Item>& searches, ExitCode& code);
  [[nodiscard]] Announcement announcement(const Context& context, const DeviceChoice& choice) const;
  ExitCode search_all(Context& context, const DeviceChoice& choice, const LockedClock& clock,
                      const std::vector<Item>& searches);
  ExitCode run_item(Context& context, const DeviceChoice& choice, db::Database& database, const Item& item);
  ExitCode report(Context& context, const SearchOutcome& outcome);
  ExitCode plan_only(Context& context, const std::vector<Item>& searches);
  void print_json(Context& context, std::size_t problems) const;

  ProblemOptions problem_options_;
  ConditionsOptions conditions_options_;
  CompileOptions compile_options_;
  GridOption grid_;
  std::string device_ = "auto", database_, template_, budget_, seed_ = "1", objective_ = "time";
  bool force_ = false, retry_failed_ = false, full_ = false, dry_run_ = false, json_ = false, quiet_ = false,
       verbose_ = false;

  Conditions conditions_;                ///< of this run, the locked clock included
  StopSignals* signals_ = nullptr;       ///< of the running search
  std::unique_ptr<device::Device> gpu_;  ///< opened once, used for every problem
  json results_ = json::array();
};

void SearchCommand::add_options(CommandLine& app) {
  problem_options_.add_to(app);
  const char* search = "Search";
  add_template_option(app, template_);
  grid_.add_to(app);
  add_device_option(app, device_);
  add_database_option(app, database_);
  for (const char* shared : {"--template", "--grid", "--device", "--db"}) app.get_option(shared).group(search);
  app.add_option("--budget", budget_, "For each problem: a time (60s, 5m) or a number of variants (500)")
      .option_text("TIME|N")
      .group(search);
  compile_options_.add_to(app, search);
  app.add_option("--seed", seed_, "Order of the search (default: 1)").option_text("N").group(search);
  app.add_option("--objective", objective_,
                 "What is best: time (default), energy (joules of a GEMM) or edp (energy times time); energy is "
                 "measured of all finalists")
      .option_text("NAME")
      .group(kMeasuringGroup);
  conditions_options_.add_to(app);
  app.add_flag("--full", full_,
               "No cuts: every variant that is right gets all rounds of the race; slow, for studies of the race")
      .group(kMeasuringGroup);
  app.add_flag("--force", force_, "Measure again what the database already answers").group(search);
  app.add_flag("--retry-failed", retry_failed_,
               "Try again what crashed or hung in earlier searches and is quarantined since")
      .group(search);
  app.add_flag("--dry-run", dry_run_, "Say what would be searched, and stop").group(search);
  add_json_option(app, json_);
  app.add_flag("-q,--quiet", quiet_, "Results only").group(kOutputGroup);
  app.add_flag("-v,--verbose", verbose_, "Say more about what is done").group(kOutputGroup);
}

std::vector<SearchCommand::Item> SearchCommand::items(const Context& context) const {
  std::vector<Item> items;
  std::map<std::tuple<Dtype, ElementType, std::string>, space::TemplateSet> templates;
  for (const Problem& problem : problem_options_.problems()) {
    const std::tuple kind{problem.dtype, problem.type_of_c(), to_string(problem.epilogue)};
    auto fitting = templates.find(kind);
    if (fitting == templates.end())
      fitting = templates.emplace(kind, grid_.of(context.catalogue().select(template_, problem))).first;
    items.push_back({problem, fitting->second});
  }
  return items;
}

session::Options SearchCommand::search_options(const Context& context) const {
  session::Options options;
  if (!budget_.empty()) options.budget = parse_budget(budget_);
  options.force = force_;
  options.retry_failed = retry_failed_;
  options.seed = static_cast<std::uint64_t>(parse_count("--seed", seed_, 0));
  options.command_line = context.command_line();
  options.conditions = conditions_;
  const auto objective = session::parse_objective(objective_);
  if (!objective)
    throw CommandError(ErrorKind::kUsage,
                       fmt::format("unknown --objective '{}'. Give time, energy or edp.", objective_));
  options.objective = *objective;
  options.measure_energy = conditions_options_.power();
  options.full = full_;
  return options;
}

/// True where the database answers everything about this machine's GPU, which then need not even be looked for.
bool SearchCommand::answer_from_database(Context& context, const std::vector<Item>& searches, ExitCode& code) {
  const session::Options options = search_options(context);
  if (!std::filesystem::exists(context.database_path(database_))) return false;
  Conditions conditions = conditions_;
  if (const auto lock = conditions_options_.lock_request(context.config(), "gpu")) {
    if (!lock->mhz) return false;  // which clock it will be shows once it is locked
    conditions.locked_sm_clock_hz = *lock->mhz * 1e6;
  }
  db::Database database = context.open_database(database_, db::OpenMode::kReadWriteCreate);
  const auto info = known_gpu(database, device_, process_environment, "/proc/driver/nvidia");
  if (!info) return false;
  DatabaseStore store(database);
  std::vector<session::Answer> found;
  for (const Item& item : searches) {
    auto answer = session::answered_already(store, {item.problem, item.templates, *info, "gpu", conditions}, options);
    if (!answer) return false;
    found.push_back(std::move(*answer));
  }
  const DeviceChoice choice = gpu_choice(*info, 0);
  conditions_ = conditions;
  announce(context.terminal(), announcement(context, choice));
  for (std::size_t i = 0; i < searches.size(); ++i) {
    code = worse(code, report(context, {searches[i].problem, searches[i].templates, choice, conditions_,
                                        session::result_from_store(std::move(found[i])),
                                        context.database_path(database_).string()}));
  }
  print_json(context, searches.size());
  return true;
}

Announcement SearchCommand::announcement(const Context& context, const DeviceChoice& choice) const {
  Announcement out{choice, conditions_, context.database_path(database_).string()};
  out.planning = dry_run_;
  if (full_) out.unusual.emplace_back("race      full: nothing is cut, every variant that is right gets all rounds");
  return out;
}

ExitCode SearchCommand::report(Context& context, const SearchOutcome& outcome) {
  Terminal& terminal = context.terminal();
  const session::SearchResult& result = outcome.result;
  if (json_) {
    results_.push_back(result_json(outcome));
  } else {
    terminal.print(result_text(outcome, terminal));
  }
  if (result.from_store)
    terminal.note(fmt::format("Answered from the database ({}); --force measures again.", result.answer->finished_at));
  if (const auto known = result.counts.failed.find(OutcomeKind::kQuarantined); known != result.counts.failed.end())
    terminal.note(fmt::format("{} not run, because the same build crashed or hung before; --retry-failed tries again.",
                              known->second));
  if (result.interrupted || result.budget_reached || result.gave_up) {
    terminal.note(fmt::format("Stopped early {}.", result.interrupted ? "by a signal"
                                                   : result.gave_up   ? "because round after round was void, see notes"
                                                                      : "at the end of the budget, as asked"));
    terminal.note("What was measured is stored: the same command goes on from here.");
  }
  return exit_code(result, signals_ != nullptr ? signals_->exit_code() : std::nullopt);
}

ExitCode SearchCommand::run_item(Context& context, const DeviceChoice& choice, db::Database& database,
                                 const Item& item) {
  const CompileLimits compile = compile_options_.limits(context);
  const auto [device, templates] = answering(choice, item.templates, item.problem);
  std::unique_ptr<device::Device> replay;
  if (device.source == "replay") {
    replay = open_device(context, device, templates, item.problem, compile);
  } else if (gpu_ == nullptr) {
    gpu_ = open_device(context, device, templates, item.problem, compile);
  }
  announce_versions(context.terminal(), templates);
  DatabaseStore store(database);
  LiveLine live(context.terminal());
  auto result =
      session::run_search(item.problem, templates, replay ? *replay : *gpu_, store, search_options(context),
                          signals_->flag(), [&live](const session::Progress& progress) { live.update(progress); });
  live.clear();
  return report(context, {item.problem, templates, device, conditions_, value_or_throw(std::move(result)),
                          context.database_path(database_).string()});
}

void SearchCommand::print_json(Context& context, std::size_t searches) const {
  if (!json_ || results_.empty()) return;
  const json document = searches == 1 ? results_.front() : json{{"schema", kJsonSchema}, {"results", results_}};
  context.terminal().print(document.dump(2) + '\n');
}

ExitCode SearchCommand::plan_only(Context& context, const std::vector<Item>& searches) {
  const DeviceChoice choice = choose_device_to_plan(context, device_);
  const auto lock = conditions_options_.lock_request(context.config(), choice.source);
  const bool unknown_clock = lock && !lock->mhz;
  if (lock && lock->mhz) conditions_.locked_sm_clock_hz = *lock->mhz * 1e6;
  Announcement first = announcement(context, choice);
  if (unknown_clock) first.clocks = {"clocks    to be locked; at which clock shows then, so nothing stored is counted"};
  announce(context.terminal(), first);
  std::optional<db::Database> database;
  if (!unknown_clock && std::filesystem::exists(context.database_path(database_)))
    database = context.open_database(database_, db::OpenMode::kReadOnly);
  std::optional<DatabaseStore> store;
  if (database) store.emplace(*database);
  for (const Item& item : searches) {
    const auto [device, templates] = answering(choice, item.templates, item.problem);
    const DryRun run = dry_run(item.problem, templates, device, search_options(context), store ? &*store : nullptr);
    if (json_) {
      results_.push_back(dry_run_json(run));
    } else {
      context.terminal().print(dry_run_text(run));
    }
  }
  print_json(context, searches.size());
  return ExitCode::kDone;
}

ExitCode SearchCommand::run(Context& context) {
  Terminal& terminal = context.terminal();
  if (quiet_ && verbose_) throw CommandError(ErrorKind::kUsage, "--quiet and --verbose exclude each other. Give one.");
  if (quiet_) terminal.set_verbosity(Verbosity::kQuiet);
  if (verbose_) terminal.set_verbosity(Verbosity::kVerbose);
  const std::vector<Item> searches = items(context);
  conditions_ = conditions_options_.conditions(context.config());
  // These report bad values before any work.
  (void)search_options(context);
  (void)compile_options_.limits(context);
  if (dry_run_) return plan_only(context, searches);
  (void)conditions_options_.lock_request(context.config(), "gpu");
  ExitCode code = ExitCode::kDone;
  if (answer_from_database(context, searches, code)) return code;
  const DeviceChoice choice = choose_device(context, device_);
  const auto lock = conditions_options_.lock_request(context.config(), choice.source);
  StopSignals signals;
  signals_ = &signals;
  return with_clocks(context, choice, lock, [&](const LockedClock& clock) {
    conditions_.locked_sm_clock_hz = clock.hz;
    announce(terminal, announcement(context, choice).under(clock));
    for (const Item& item : searches) {
      for (const space::TemplateId& id : item.templates.ids())
        terminal.detail(fmt::format("template  {} {}", id.name, id.content_hash));
    }
    terminal.detail(fmt::format("worker    {}", context.paths().worker.string()));
    terminal.detail(fmt::format("cubins    {}", context.paths().cache.string()));
    return search_all(context, choice, clock, searches);
  });
}

ExitCode SearchCommand::search_all(Context& context, const DeviceChoice& choice, const LockedClock& clock,
                                   const std::vector<Item>& searches) {
  db::Database database = context.open_database(database_, db::OpenMode::kReadWriteCreate);
  ExitCode code = ExitCode::kDone;
  for (const Item& item : searches) {
    clock.check();
    try {
      code = worse(code, run_item(context, choice, database, item));
    } catch (const CommandError& error) {
      // One problem that cannot be searched does not take the others with it.
      if (searches.size() == 1 || (error.kind() != ErrorKind::kUsage && choice.source != "replay")) throw;
      context.terminal().error(fmt::format("{}: {}", item.problem.title(), error.what()));
      results_.push_back({{"schema", kJsonSchema}, {"problem", item.problem}, {"error", error.what()}});
      code = worse(code, exit_code(error.kind()));
    }
    if (signals_->exit_code()) break;
  }
  gpu_.reset();  // before the clocks are given back
  print_json(context, searches.size());
  return code;
}

}  // namespace

std::unique_ptr<Command> make_search_command() { return std::make_unique<SearchCommand>(); }

}  // namespace pgtune::tool
