// SPDX-License-Identifier: MIT
// pgtune ladder: named variants, from the simplest kernel to the tuned one, measured in the same rounds and explained.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "ladder/program/rung_facts.hpp"
#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/measuring/measuring_run.hpp"
#include "tool/pgtune/rooms.hpp"
#include "tuner/session/answer/answered.hpp"

namespace pgtune::tool {
namespace {

/// Rungs slower than this many times cuBLASLt's best are timed alone: in its rounds every sample would last five of
/// their launches.
constexpr double kSlowestInRounds = 4;

/// The options of the command line.
struct LadderTask {
  MeasuringOptions measuring;
  Problem problem;
  std::string ladder;                          ///< a name or a path
  const LoadedOperation* operation = nullptr;  ///< null: GEMM
  int rounds = 0;
  bool counters = false;
};

FindBest stored_best(session::Store& store, const Problem& problem, const DeviceInfo& device,
                     const Conditions& conditions) {
  return [&store, problem, device, conditions](const space::TemplateSet& searched) -> std::optional<StoredBest> {
    const auto answer = session::stored_answer(store, {problem, searched, device, conditions}, false);
    if (!answer) return std::nullopt;
    return StoredBest{answer->best().variant, answer->best().time_s};
  };
}

/// The outcome of a ladder before anything is built or measured.
LadderOutcome bare_outcome(const LadderTask& task, const LadderPlan& plan, const DeviceInfo& device,
                           const std::string& description, const Conditions& conditions) {
  LadderOutcome out;
  out.problem = task.problem;
  out.device = device;
  out.device_description = description;
  out.conditions = conditions;
  out.name = plan.name;
  out.description = plan.description;
  out.counters = task.counters;
  for (const PlannedRung& rung : plan.rungs) {
    out.rungs.emplace_back();
    out.rungs.back().planned = rung;
  }
  return out;
}

ExitCode show_ladder(Terminal& terminal, ResultDocument& results, const LadderOutcome& outcome) {
  results.add([&] { return ladder_text(outcome, terminal); }, [&] { return ladder_json(outcome); });
  const bool any = std::any_of(outcome.rungs.begin(), outcome.rungs.end(), [&](const RungResult& rung) {
    return outcome.timed ? rung.measured.has_value() : rung.build.has_value();
  });
  return any ? ExitCode::kDone : ExitCode::kNothingValid;
}

ExitCode build_only(Context& context, const LadderTask& task, ResultDocument& results, const DeviceInfo& device,
                    const std::string& description) {
  if (task.counters)
    throw CommandError(ErrorKind::kUsage, "--counters needs a GPU to launch on. Leave it out, or give a GPU.");
  const LadderPlan plan = plan_ladder(context, task.ladder, task.problem, task.operation, device, {});
  LadderOutcome built = bare_outcome(task, plan, device, description, task.measuring.session.conditions);
  const CompileLimits& limits = task.measuring.compile;
  build_rungs(built, plan.templates,
              {.worker_path = context.paths().worker.string(),
               .cache_dir = context.paths().cache.string(),
               .jobs = limits.jobs,
               .build_timeout = limits.time,
               .memory_limit_bytes = limits.memory_bytes});
  read_machine_code(built);
  return show_ladder(context.terminal(), results, built);
}

session::BenchRequest bench_request(const LadderPlan& plan, int rounds) {
  session::BenchRequest request;
  request.rounds = rounds;
  request.slowest_in_rounds = kSlowestInRounds;
  for (const PlannedRung& rung : plan.rungs) {
    if (rung.variant) request.variants.push_back(*rung.variant);
  }
  // A session takes its variants template by template.
  std::stable_sort(request.variants.begin(), request.variants.end(),
                   [](const Variant& a, const Variant& b) { return a.template_name < b.template_name; });
  return request;
}

/// Assigns a bench's results to their rungs.
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
  out.problem = with_counts(std::move(out.problem), result.baseline.counts);
  out.library = result.baseline.library;
  out.baseline = result.baseline.name();
  if (result.answer) {
    out.baseline_best_s = result.answer->baseline_best_s;
  } else if (const auto best = static_cast<std::size_t>(result.baseline.best);
             best < result.baseline.algorithms.size()) {
    out.baseline_best_s = result.baseline.algorithms[best].time_s;
  }
  out.answer = std::move(result.answer);
  out.elapsed_s = result.elapsed_s;
}

Shown climb(Context& context, MeasuringRun& run, const LadderTask& task, ResultDocument& results) {
  const DeviceChoice& choice = run.choice();
  const Conditions& conditions = run.session().conditions;
  const LadderPlan plan = plan_ladder(context, task.ladder, task.problem, task.operation, choice.info,
                                      stored_best(run.store(), task.problem, choice.info, conditions));
  LadderOutcome climbed = bare_outcome(task, plan, choice.info, choice.description, conditions);
  ExitCode code = ExitCode::kDone;
  if (const session::BenchRequest request = bench_request(plan, task.rounds); !request.variants.empty()) {
    session::BenchResult result = run.bench(task.problem, plan.templates, request);
    run.close_gpu();  // the profiler's worker may need the memory
    if (result.interrupted || result.gave_up) code = exit_code(result, run.signals().exit_code());
    take_results(climbed, plan, std::move(result));
    read_machine_code(climbed);
    if (task.counters && !run.signals().exit_code())
      read_ladder_counters(context.paths().worker, run.signals().flag(), climbed);
  }
  return [&context, &results, code, climbed = std::move(climbed)] {
    return worse(code, show_ladder(context.terminal(), results, climbed));
  };
}

class LadderCommand final : public Command {
 public:
  std::string name() const override { return "ladder"; }
  std::string description() const override { return "Climb from a naive kernel to the tuned one, and see why"; }
  std::string examples() const override {
    return "pgtune ladder --shape 4096x4096x4096\n"
           "pgtune ladder --shape 4096x4096x4096 --layout tn --counters\n"
           "pgtune ladder --operation softmax --size M=4096,N=8192\n"
           "pgtune ladder --device sm_90a";
  }

  void add_options(CommandLine& app) override {
    const char* group = "Ladder";
    problems_.add_to(app);
    app.add_option("--ladder", ladder_,
                   "A built-in ladder (default: sgemm, or the operation's), or the path of a ladder's JSON")
        .option_text("NAME|FILE")
        .group(group);
    app.add_option("--rounds", rounds_, "Rounds, each with a sample of every rung and of the baseline (default: 12)")
        .option_text("N")
        .group(group);
    app.add_flag("--counters", counters_, "Also read stalls and FMA-pipe use with the toolkit's profiler (ncu)")
        .group(group);
    // Energy is not measured: it would take seconds per rung.
    measuring_.add_to(app, {.group = group, .architectures = true, .energy = false});
    app.show_first({"--shape", "--dtype", "--layout", "--operation", "--size", "--ladder", "--rounds", "--counters",
                    "--device", "--db", "--lock-clocks", "--json", "--quiet"});
  }

  ExitCode run(Context& context) override {
    const LadderTask task = read(context);
    ResultDocument results(context.terminal(), task.measuring.json, 1);
    const ExitCode code = climb_or_build(context, task, results);
    results.finish();
    return code;
  }

 private:
  static ExitCode climb_or_build(Context& context, const LadderTask& task, ResultDocument& results) {
    const MeasuringOptions& options = task.measuring;
    if (options.device.starts_with("sm_")) {
      options.clock.refuse_without_gpu();
      return build_only(context, task, results, device_or_architecture(context, options.device), options.device);
    }
    const DeviceChoice choice = choose_device(context, options.device);
    if (!choice.is_gpu()) {
      options.clock.refuse_without_gpu();
      if (task.counters) require_gpu(choice, "--counters");
      context.terminal().note("No GPU to measure on: the rungs are only built, and their machine code is read.");
      context.terminal().detail(fact_note("cause", choice.no_gpu));
      return build_only(context, task, results, choice.info,
                        fmt::format("{}, {}, only built for", choice.info.name, choice.info.architecture));
    }
    return measure(context, options, {choice}, {task.problem}, results,
                   {[&](MeasuringRun& run, const Problem&) { return climb(context, run, task, results); }});
  }

  [[nodiscard]] LadderTask read(Context& context) const {
    LadderTask task;
    task.measuring = measuring_.read(context);
    const std::vector<Problem> problems = problems_.problems("4096x4096x4096");
    if (problems.size() != 1)
      throw CommandError(
          ErrorKind::kUsage,
          fmt::format("a ladder is climbed on one problem, not {}. Give one --shape or --size.", problems.size()));
    task.problem = problems.front();
    task.operation = problems_.operation();
    task.ladder = ladder_.empty() ? default_ladder(task.operation) : ladder_;
    task.rounds = parse_rounds(rounds_);
    task.counters = counters_;
    if (task.measuring.device.starts_with("recording"))
      throw CommandError(ErrorKind::kUsage,
                         "a recording holds no ladder. Give a GPU to measure on, or an architecture such as sm_90a to "
                         "see what the compiler makes of each rung.");
    return task;
  }

  ProblemOptions problems_;
  MeasuringArguments measuring_;
  std::string ladder_, rounds_ = "12";
  bool counters_ = false;
};

}  // namespace

void register_ladder(Rooms& rooms) { rooms.commands.push_back(std::make_unique<LadderCommand>()); }

}  // namespace pgtune::tool
