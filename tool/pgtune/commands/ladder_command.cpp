// SPDX-License-Identifier: MIT
// pgtune ladder: named variants, from the simplest kernel to the tuned one, measured side by side and explained.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/options/compile_options.hpp"
#include "tool/pgtune/cli/options/conditions_options.hpp"
#include "tool/pgtune/cli/options/number_options.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"
#include "tool/pgtune/cli/terminal/live_line.hpp"
#include "tool/pgtune/commands/commands.hpp"
#include "tool/pgtune/ladder/ladder_builds.hpp"
#include "tool/pgtune/ladder/ladder_counters.hpp"
#include "tool/pgtune/measuring/architecture_option.hpp"
#include "tool/pgtune/measuring/clock_session.hpp"
#include "tool/pgtune/measuring/database_store.hpp"
#include "tool/pgtune/measuring/device_choice.hpp"
#include "tool/pgtune/measuring/signals.hpp"
#include "tool/pgtune/report/announcement.hpp"
#include "tuner/model/architectures.hpp"
#include "tuner/session/bench_session.hpp"

namespace pgtune::tool {
namespace {

/// Rungs slower than this many times cuBLASLt's best are timed alone: in its rounds every sample would last five of
/// their launches.
constexpr double kSlowestInRounds = 4;

class LadderCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "ladder"; }
  [[nodiscard]] std::string description() const override {
    return "Climb from a naive kernel to the tuned one, and see why";
  }
  [[nodiscard]] std::string examples() const override {
    return "pgtune ladder --shape 4096x4096x4096\n"
           "pgtune ladder --shape 4096x4096x4096 --layout tn --counters\n"
           "pgtune ladder --device sm_90a";
  }
  void add_options(CommandLine& app) override;
  [[nodiscard]] ExitCode run(Context& context) override;

 private:
  [[nodiscard]] Problem problem() const;
  ExitCode build_only(Context& context, const DeviceInfo& device, const std::string& description);
  ExitCode climb(Context& context, const DeviceChoice& choice, const LockedClock& clock);
  [[nodiscard]] session::BenchResult measure(Context& context, const DeviceChoice& choice, DatabaseStore& store,
                                             const LadderPlan& plan) const;
  ExitCode report(Context& context, const LadderOutcome& outcome) const;
  [[nodiscard]] LadderOutcome outcome(const LadderPlan& plan, const DeviceInfo& device,
                                      const std::string& description) const;
  [[nodiscard]] FindBest stored_best(DatabaseStore& store, const DeviceInfo& device) const;

  ProblemOptions problem_options_;
  ConditionsOptions conditions_options_;
  CompileOptions compile_options_;
  std::string ladder_ = "sgemm", device_ = "auto", database_, rounds_ = "12", seed_ = "1";
  bool counters_ = false, json_ = false, quiet_ = false;

  Conditions conditions_;           ///< of this run, the locked clock included
  StopSignals* signals_ = nullptr;  ///< of the running ladder
};

void LadderCommand::add_options(CommandLine& app) {
  problem_options_.add_to(app);
  const char* group = "Ladder";
  app.add_option("--ladder", ladder_, "A built-in ladder (default: sgemm), or the path of a ladder's JSON")
      .option_text("NAME|FILE")
      .group(group);
  app.add_option("--rounds", rounds_, "Rounds, each with a sample of every rung and of cuBLASLt (default: 12)")
      .option_text("N")
      .group(group);
  app.add_flag("--counters", counters_, "Stalls and FMA-pipe use too, read by the toolkit's profiler (ncu)")
      .group(group);
  add_device_or_architecture_option(app, device_);
  add_database_option(app, database_);
  for (const char* shared : {"--device", "--db"}) app.get_option(shared).group(group);
  compile_options_.add_to(app, group);
  app.add_option("--seed", seed_, "Order of the rounds (default: 1)").option_text("N").group(group);
  conditions_options_.add_to(app);
  app.remove_option("--power");  // windows of seconds for each rung
  add_json_option(app, json_);
  app.add_flag("-q,--quiet", quiet_, "Results only").group(kOutputGroup);
}

Problem LadderCommand::problem() const {
  const std::vector<Problem> problems = problem_options_.problems("4096x4096x4096");
  if (problems.size() == 1) return problems.front();
  throw CommandError(ErrorKind::kUsage,
                     fmt::format("a ladder is climbed on one problem, not {}. Give one --shape.", problems.size()));
}

FindBest LadderCommand::stored_best(DatabaseStore& store, const DeviceInfo& device) const {
  return [this, &store, device](const space::TemplateSet& searched) -> std::optional<StoredBest> {
    const auto answer = store.answer({problem(), searched, device, "gpu", conditions_});
    if (!answer) return std::nullopt;
    return StoredBest{answer->best().variant, answer->best().time_s};
  };
}

LadderOutcome LadderCommand::outcome(const LadderPlan& plan, const DeviceInfo& device,
                                     const std::string& description) const {
  LadderOutcome out;
  out.problem = problem();
  out.device = device;
  out.device_description = description;
  out.conditions = conditions_;
  out.name = plan.name;
  out.description = plan.description;
  out.counters = counters_;
  for (const PlannedRung& rung : plan.rungs) {
    out.rungs.emplace_back();
    out.rungs.back().planned = rung;
  }
  return out;
}

ExitCode LadderCommand::report(Context& context, const LadderOutcome& outcome) const {
  context.terminal().print(json_ ? ladder_json(outcome).dump(2) + '\n' : ladder_text(outcome, context.terminal()));
  const bool any = std::any_of(outcome.rungs.begin(), outcome.rungs.end(), [&](const RungResult& rung) {
    return outcome.timed ? rung.measured.has_value() : rung.build.has_value();
  });
  return any ? ExitCode::kDone : ExitCode::kNothingValid;
}

ExitCode LadderCommand::build_only(Context& context, const DeviceInfo& device, const std::string& description) {
  if (counters_)
    throw CommandError(ErrorKind::kUsage, "--counters needs a GPU to launch on. Leave it out, or give a GPU.");
  const CompileLimits limits = compile_options_.limits(context);
  const auto nothing_stored = [](const space::TemplateSet& /*searched*/) { return std::optional<StoredBest>(); };
  const LadderPlan plan = plan_ladder(context, ladder_, problem(), device, nothing_stored);
  LadderOutcome built = outcome(plan, device, description);
  build_rungs(built, plan.templates,
              {.worker_path = context.paths().worker.string(),
               .cache_dir = context.paths().cache.string(),
               .jobs = limits.jobs,
               .build_timeout = limits.time,
               .memory_limit_bytes = limits.memory_bytes});
  read_machine_code(built);
  return report(context, built);
}

session::BenchResult LadderCommand::measure(Context& context, const DeviceChoice& choice, DatabaseStore& store,
                                            const LadderPlan& plan) const {
  const auto gpu = open_device(context, choice, plan.templates, problem(), compile_options_.limits(context));
  session::BenchRequest request;
  request.rounds = static_cast<int>(std::min<std::int64_t>(parse_count("--rounds", rounds_, 1), 10'000));
  request.slowest_in_rounds = kSlowestInRounds;
  for (const PlannedRung& rung : plan.rungs) {
    if (rung.variant) request.variants.push_back(*rung.variant);
  }
  // A session takes its variants template by template.
  std::stable_sort(request.variants.begin(), request.variants.end(),
                   [](const Variant& a, const Variant& b) { return a.template_name < b.template_name; });
  session::Options options;
  options.seed = static_cast<std::uint64_t>(parse_count("--seed", seed_, 0));
  options.conditions = conditions_;
  options.command_line = context.command_line();
  LiveLine live(context.terminal());
  auto result = session::run_bench(problem(), plan.templates, *gpu, store, request, options, signals_->flag(),
                                   [&live](const session::Progress& progress) { live.update(progress); });
  live.clear();
  return value_or_throw(std::move(result));
}

/// Hands a bench's results to the rungs they belong to.
void take_results(LadderOutcome& out, const LadderPlan& plan, session::BenchResult result) {
  const auto take = [&](RungResult& rung, const std::vector<session::RankedVariant>& rows, bool in_rounds) {
    for (const session::RankedVariant& row : rows) {
      if (row.variant != *rung.planned.variant) continue;
      rung.measured = row;
      rung.in_rounds = in_rounds;
      take_build(rung, row.build, plan.templates, out.problem, out.device);
    }
  };
  for (RungResult& rung : out.rungs) {
    if (!rung.planned.variant) continue;
    if (result.answer) take(rung, result.answer->ranking, true);
    take(rung, result.screened, false);
    for (const auto& [variant, fate] : result.failed) {
      if (variant == *rung.planned.variant) rung.failure = fmt::format("{}: {}", to_string(fate.kind), fate.reason);
    }
  }
  out.timed = true;
  out.library = result.baseline.library;
  if (result.answer) {
    out.baseline_best_s = result.answer->baseline_best_s;
  } else if (const auto best = static_cast<std::size_t>(result.baseline.best);
             best < result.baseline.algorithms.size()) {
    out.baseline_best_s = result.baseline.algorithms[best].time_s;
  }
  out.answer = std::move(result.answer);
  out.elapsed_s = result.elapsed_s;
}

ExitCode LadderCommand::climb(Context& context, const DeviceChoice& choice, const LockedClock& clock) {
  const Announcement first{choice, conditions_, context.database_path(database_).string()};
  announce(context.terminal(), first.under(clock));
  db::Database database = context.open_database(database_, db::OpenMode::kReadWriteCreate);
  DatabaseStore store(database);
  const LadderPlan plan = plan_ladder(context, ladder_, problem(), choice.info, stored_best(store, choice.info));
  LadderOutcome climbed = outcome(plan, choice.info, choice.description);
  const bool any = std::any_of(plan.rungs.begin(), plan.rungs.end(), [](const auto& rung) { return !!rung.variant; });
  ExitCode code = ExitCode::kDone;
  if (any) {
    session::BenchResult result = measure(context, choice, store, plan);
    if (result.interrupted) code = signals_->exit_code().value_or(ExitCode::kInterrupted);
    if (result.gave_up) code = ExitCode::kPartial;
    take_results(climbed, plan, std::move(result));
    read_machine_code(climbed);
    if (counters_ && !signals_->exit_code()) read_counters(context.paths().worker, signals_->flag(), climbed);
  }
  return worse(code, report(context, climbed));
}

ExitCode LadderCommand::run(Context& context) {
  if (quiet_) context.terminal().set_verbosity(Verbosity::kQuiet);
  // These report bad values before any work.
  (void)problem();
  (void)parse_count("--rounds", rounds_, 1);
  (void)parse_count("--seed", seed_, 0);
  (void)compile_options_.limits(context);
  conditions_ = conditions_options_.conditions(context.config());
  if (device_.starts_with("replay"))
    throw CommandError(ErrorKind::kUsage,
                       "a recording holds no ladder. Give a GPU to measure on, or an architecture such as sm_90a to "
                       "see what the compiler makes of each rung.");
  if (device_.starts_with("sm_")) {
    (void)conditions_options_.lock_request(context.config(), "architecture");
    return build_only(context, device_or_architecture(context, device_), device_);
  }
  const DeviceChoice choice = choose_device(context, device_);
  const auto lock = conditions_options_.lock_request(context.config(), choice.source);
  if (choice.source != "gpu") {
    context.terminal().note("No GPU to measure on: the rungs are only built, and their machine code is read.");
    for (const std::string& note : choice.notes) context.terminal().detail(note);
    return build_only(context, choice.info,
                      fmt::format("{}, {}, only built for", choice.info.name, choice.info.architecture));
  }
  StopSignals signals;
  signals_ = &signals;
  return with_clocks(context, choice, lock, [&](const LockedClock& clock) {
    conditions_.locked_sm_clock_hz = clock.hz;
    return climb(context, choice, clock);
  });
}

}  // namespace

std::unique_ptr<Command> make_ladder_command() { return std::make_unique<LadderCommand>(); }

}  // namespace pgtune::tool
