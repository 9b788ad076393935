// SPDX-License-Identifier: MIT
// pgtune search: finds the fastest variant for each problem and remembers it.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "tool/pgtune/command_error.hpp"
#include "tool/pgtune/commands.hpp"
#include "tool/pgtune/common_options.hpp"
#include "tool/pgtune/database_store.hpp"
#include "tool/pgtune/device_option.hpp"
#include "tool/pgtune/dry_run.hpp"
#include "tool/pgtune/known_gpu.hpp"
#include "tool/pgtune/live_line.hpp"
#include "tool/pgtune/number_options.hpp"
#include "tool/pgtune/problem_options.hpp"
#include "tool/pgtune/result_json.hpp"
#include "tool/pgtune/result_text.hpp"
#include "tool/pgtune/signals.hpp"
#include "tuner/model/json.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;
using SharedTemplate = std::shared_ptr<const space::TemplateDefinition>;

/// How bad an exit code is, so that several problems end with the worst of theirs.
int badness(ExitCode code) {
  switch (code) {
    case ExitCode::kDone:
      return 0;
    case ExitCode::kNothingValid:
      return 1;
    case ExitCode::kPartial:
      return 2;
    case ExitCode::kUsage:
      return 3;
    case ExitCode::kEnvironment:
      return 4;
    case ExitCode::kDatabase:
      return 5;
    case ExitCode::kInternal:
      return 6;
    case ExitCode::kInterrupted:
    case ExitCode::kTerminated:
      return 7;
  }
  return 7;
}

ExitCode worse(ExitCode a, ExitCode b) { return badness(b) > badness(a) ? b : a; }

class SearchCommand : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "search"; }
  [[nodiscard]] std::string description() const override {
    return "Find the fastest kernel for one or more shapes, and remember it";
  }
  [[nodiscard]] std::string examples() const override {
    return "pgtune search --shape 4096x4096x4096\n"
           "pgtune search --shapes shapes.txt --layout nt --budget 60s --json\n"
           "pgtune search --shape 512x512x512 --device replay --dry-run";
  }
  void add_options(CLI::App& app) override;
  [[nodiscard]] ExitCode run(Context& context) override;

 private:
  struct Item {
    Problem problem;
    SharedTemplate definition;
  };
  [[nodiscard]] std::vector<Item> items(const Context& context) const;
  [[nodiscard]] session::Options search_options(const Context& context) const;
  [[nodiscard]] std::size_t compile_jobs() const { return static_cast<std::size_t>(parse_count("--jobs", jobs_, 0)); }
  [[nodiscard]] std::optional<DeviceChoice> answered_choice(const Context& context,
                                                            const std::vector<Item>& searches) const;
  void announce(Context& context, const DeviceChoice& choice) const;
  ExitCode run_item(Context& context, const DeviceChoice& choice, db::Database& database, const Item& item);
  ExitCode report(Context& context, const SearchOutcome& outcome);
  ExitCode plan_only(Context& context, const std::vector<Item>& searches);
  void print_json(Context& context, std::size_t problems) const;

  ProblemOptions problem_options_;
  std::string device_ = "auto", database_, template_, jobs_ = "0", budget_, seed_ = "1";
  bool force_ = false, dry_run_ = false, json_ = false, quiet_ = false, verbose_ = false;

  StopSignals* signals_ = nullptr;       ///< of the running search
  std::unique_ptr<device::Device> gpu_;  ///< opened once, used for every problem
  json results_ = json::array();
};

void SearchCommand::add_options(CLI::App& app) {
  problem_options_.add_to(app);
  const char* search = "Search";
  add_template_option(app, template_);
  add_device_option(app, device_);
  add_database_option(app, database_);
  for (const char* shared : {"--template", "--device", "--db"}) app.get_option(shared)->group(search);
  app.add_option("--budget", budget_, "For each problem: a time (60s, 5m) or a number of variants (500)")
      ->option_text("TIME|N")
      ->group(search);
  app.add_option("--jobs", jobs_, "Compile workers (default: one a core)")->option_text("N")->group(search);
  app.add_option("--seed", seed_, "Order of the search (default: 1)")->option_text("N")->group(search);
  app.add_flag("--force", force_, "Measure again what the database already answers")->group(search);
  app.add_flag("--dry-run", dry_run_, "Say what would be searched, and stop")->group(search);
  add_json_option(app, json_);
  app.add_flag("-q,--quiet", quiet_, "Results only")->group(kOutputGroup);
  app.add_flag("-v,--verbose", verbose_, "Say more about what is done")->group(kOutputGroup);
}

std::vector<SearchCommand::Item> SearchCommand::items(const Context& context) const {
  std::vector<Item> items;
  std::map<MathMode, std::vector<SharedTemplate>> templates;
  for (const Problem& problem : problem_options_.problems()) {
    auto& fitting = templates[problem.math_mode];
    if (fitting.empty()) {
      for (auto& definition : context.catalogue().select(template_, problem.math_mode))
        fitting.push_back(std::make_shared<const space::TemplateDefinition>(std::move(definition)));
    }
    for (const SharedTemplate& definition : fitting) items.push_back({problem, definition});
  }
  return items;
}

session::Options SearchCommand::search_options(const Context& context) const {
  session::Options options;
  if (!budget_.empty()) options.budget = parse_budget(budget_);
  options.force = force_;
  options.seed = static_cast<std::uint64_t>(parse_count("--seed", seed_, 0));
  options.command_line = context.command_line();
  return options;
}

/// The GPU, where the database answers everything about it: then it need not even be looked for.
std::optional<DeviceChoice> SearchCommand::answered_choice(const Context& context,
                                                           const std::vector<Item>& searches) const {
  if (force_ || !std::filesystem::exists(context.database_path(database_))) return std::nullopt;
  db::Database database = context.open_database(database_, db::OpenMode::kReadWriteCreate);
  const auto info = known_gpu(database, device_, process_environment, "/proc/driver/nvidia");
  if (!info) return std::nullopt;
  DatabaseStore store(database);
  for (const Item& item : searches) {
    const space::TemplateDefinition& definition = *item.definition;
    const auto answer = store.answer({item.problem, definition.name, definition.content_hash, *info, "gpu"});
    if (!answer || !answer->complete) return std::nullopt;
  }
  return gpu_choice(*info, 0);
}

void SearchCommand::announce(Context& context, const DeviceChoice& choice) const {
  Terminal& terminal = context.terminal();
  terminal.note("device    " + choice.description);
  if (!dry_run_)
    terminal.note(choice.source == "replay" ? "source    replay: stored measurements, nothing is compiled or timed here"
                                            : "source    gpu; clocks are observed, not locked");
  terminal.note(fmt::format("database  {}", context.database_path(database_).string()));
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
  if (result.interrupted || result.budget_reached)
    terminal.note(fmt::format("Stopped early {}. What was measured is stored: the same command goes on from here.",
                              result.interrupted ? "by a signal" : "at the end of the budget"));
  if (result.interrupted) return signals_->exit_code().value_or(ExitCode::kInterrupted);
  if (result.budget_reached) return ExitCode::kPartial;
  return result.answer ? ExitCode::kDone : ExitCode::kNothingValid;
}

ExitCode SearchCommand::run_item(Context& context, const DeviceChoice& choice, db::Database& database,
                                 const Item& item) {
  const std::size_t jobs = compile_jobs();
  std::unique_ptr<device::Device> replay;
  if (choice.source == "replay") {
    replay = open_device(context, choice, *item.definition, item.problem, jobs);
  } else if (gpu_ == nullptr) {
    gpu_ = open_device(context, choice, *item.definition, item.problem, jobs);
  }
  DatabaseStore store(database);
  LiveLine live(context.terminal());
  auto result =
      session::run_search(item.problem, *item.definition, replay ? *replay : *gpu_, store, search_options(context),
                          signals_->flag(), [&live](const session::Progress& progress) { live.update(progress); });
  live.clear();
  return report(context, {item.problem, item.definition, choice, value_or_throw(std::move(result)),
                          context.database_path(database_).string()});
}

void SearchCommand::print_json(Context& context, std::size_t searches) const {
  if (!json_ || results_.empty()) return;
  const json document = searches == 1 ? results_.front() : json{{"schema", kJsonSchema}, {"results", results_}};
  context.terminal().print(document.dump(2) + '\n');
}

ExitCode SearchCommand::plan_only(Context& context, const std::vector<Item>& searches) {
  const DeviceChoice choice = choose_device_to_plan(context, device_);
  announce(context, choice);
  std::optional<db::Database> database;
  if (std::filesystem::exists(context.database_path(database_)))
    database = context.open_database(database_, db::OpenMode::kReadOnly);
  std::optional<DatabaseStore> store;
  if (database) store.emplace(*database);
  for (const Item& item : searches) {
    const DryRun run = dry_run(item.problem, *item.definition, choice, store ? &*store : nullptr, force_);
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
  for (const Item& item : searches)
    terminal.detail(fmt::format("template  {} {}", item.definition->name, item.definition->content_hash));
  terminal.detail(fmt::format("worker    {}", context.paths().worker.string()));
  terminal.detail(fmt::format("cubins    {}", context.paths().cache.string()));
  (void)search_options(context);  // with the next line: reports bad values before any work
  (void)compile_jobs();
  if (dry_run_) return plan_only(context, searches);
  const auto answered = answered_choice(context, searches);
  const DeviceChoice choice = answered ? *answered : choose_device(context, device_);
  announce(context, choice);
  db::Database database = context.open_database(database_, db::OpenMode::kReadWriteCreate);

  StopSignals signals;
  signals_ = &signals;
  ExitCode code = ExitCode::kDone;
  for (const Item& item : searches) {
    try {
      code = worse(code, run_item(context, choice, database, item));
    } catch (const CommandError& error) {
      // One problem that cannot be searched does not take the others with it.
      if (searches.size() == 1 || (error.kind() != ErrorKind::kUsage && choice.source != "replay")) throw;
      terminal.error(fmt::format("{}: {}", item.problem.title(), error.what()));
      results_.push_back({{"schema", kJsonSchema}, {"problem", item.problem}, {"error", error.what()}});
      code = worse(code, exit_code(error.kind()));
    }
    if (signals.exit_code()) break;
  }
  print_json(context, searches.size());
  return code;
}

}  // namespace

std::unique_ptr<Command> make_search_command() { return std::make_unique<SearchCommand>(); }

}  // namespace pgtune::tool
