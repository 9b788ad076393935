// SPDX-License-Identifier: MIT
// pgtune bench: measures chosen variants and reports whether their stored results still hold.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "db/database.hpp"
#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"
#include "tool/pgtune/measuring/chosen_variants.hpp"
#include "tool/pgtune/measuring/measuring_run.hpp"
#include "tool/pgtune/measuring/stored_counters.hpp"
#include "tool/pgtune/report/answer_text.hpp"
#include "tool/pgtune/report/bench_outcome.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/session/answer/answered.hpp"
#include "tuner/session/rounds/round_plan.hpp"

namespace pgtune::tool {
namespace {

/// The options of the command line.
struct BenchTask {
  MeasuringOptions measuring;
  std::vector<Problem> problems;
  std::string selector;                                 ///< --template as given
  std::map<std::string, space::TemplateSet> templates;  ///< its templates for each problem, by the problem's key
  std::vector<std::string> variants;                    ///< kBest or keys
  int rounds = 0;
  bool counters = false;
};

BenchOutcome bench_chosen(MeasuringRun& run, const BenchTask& task, BenchOutcome outcome) {
  session::BenchRequest request;
  request.rounds = task.rounds;
  request.measure_energy = run.session().measure_energy;
  request.variants = outcome.chosen.all();
  outcome.result = run.bench(outcome.problem, outcome.templates, request);
  outcome.problem = with_counts(std::move(outcome.problem), outcome.result.baseline.counts);
  outcome.ceilings = run.ceilings();
  if (task.counters && outcome.result.answer && !run.signals().exit_code())
    outcome.counters = run.counters(
        outcome.problem, outcome.templates,
        compared_contenders(*outcome.result.answer, outcome.result.baseline, outcome.result.answer->ranking.size()));
  return outcome;
}

Shown bench_problem(Context& context, MeasuringRun& run, const BenchTask& task, ResultDocument& results,
                    const Problem& problem) {
  const space::TemplateSet& all = task.templates.at(problem.key());
  // A search over all templates counts for them; without one, searches over each of them count.
  std::vector<space::TemplateSet> searched{all};
  if (all.definitions().size() > 1) searched.insert(searched.end(), all.definitions().begin(), all.definitions().end());
  const Conditions& conditions = run.session().conditions;
  std::vector<BenchOutcome> measured;
  for (const space::TemplateSet& candidates : searched) {
    const session::StoreKey key{problem, candidates, run.choice().info, conditions};
    auto answer = session::stored_answer(run.store(), key, run.session().this_board);
    if (!answer && !all_named(task.variants, candidates)) continue;
    auto chosen = chosen_variants(task.variants, candidates, answer, run.store().trials(key),
                                  answer ? with_counts(problem, answer->baseline.counts) : problem);
    measured.push_back(bench_chosen(
        run, task, {problem, candidates, run.choice(), conditions, std::move(answer), std::move(chosen), {}}));
    if (candidates.definitions().size() > 1) break;
  }
  Terminal& terminal = context.terminal();
  if (!measured.empty()) {
    return [&terminal, &results, signal = run.signals().exit_code(), measured = std::move(measured)] {
      ExitCode code = ExitCode::kDone;
      for (const BenchOutcome& outcome : measured) {
        results.add([&] { return bench_text(outcome, terminal); }, [&] { return bench_json(outcome); });
        code = worse(code, exit_code(outcome.result, signal));
      }
      return code;
    };
  }
  const bool this_board = run.session().this_board;
  std::string nothing = fmt::format(
      "nothing is stored for {} {} under these conditions ({}). {}Run 'pgtune search {}{}' with these conditions "
      "first, or give --variant a whole key; a template of your own needs --template FILE.json here.",
      problem.title(),
      this_board ? fmt::format("on {}", run.choice().info.uuid)
                 : fmt::format("on GPUs of this class, {},", device_class(run.choice().info).text()),
      conditions_text(conditions), this_board ? "Without --this-board, other boards of its class count too. " : "",
      problem_options_text(problem, task.selector), task.measuring.database_option);
  return [&terminal, nothing = std::move(nothing)] {
    terminal.error(nothing);
    return ExitCode::kNothingValid;
  };
}

class BenchCommand final : public Command {
 public:
  std::string name() const override { return "bench"; }
  std::string description() const override { return "Measure chosen variants, and check what is stored of them"; }
  std::string examples() const override {
    return "pgtune bench --shape 4096x4096x4096\n"
           "pgtune bench --shape 4096x4096x4096 --device 1 --this-board\n"
           "pgtune bench --shape 4096x4096x4096 --rounds 48 --power\n"
           "pgtune bench --shape 4096x4096x4096 --counters\n"
           "pgtune bench --shape 512x512x512 --variant best --variant BM=64,BN=64,...\n"
           "pgtune bench --operation softmax --size M=4096,N=8192";
  }

  void add_options(CommandLine& app) override {
    const char* group = "Bench";
    problems_.add_to(app);
    app.add_option("--variant", variants_, "best (default), or a variant's key as show and guess print it; repeatable")
        .option_text("KEY")
        .one_value_each()
        .group(group);
    app.add_option("--rounds", rounds_, "Rounds, each with a sample of every variant and of the baseline (default: 24)")
        .option_text("N")
        .group(group);
    app.add_flag("--this-board", this_board_, "Compare with results of this board alone, not of its device class")
        .group(group);
    add_template_option(app, template_).group(group);
    app.add_flag("--counters", counters_,
                 "Read hardware counters of the variants and of cuBLASLt with the toolkit's profiler (ncu)")
        .group(group);
    measuring_.add_to(app, {.group = group});
    app.show_first({"--shape", "--shapes", "--dtype", "--epilogue", "--operation", "--size", "--variant", "--rounds",
                    "--this-board", "--template", "--counters", "--device", "--db", "--lock-clocks", "--power",
                    "--json", "--quiet"});
  }

  ExitCode run(Context& context) override {
    const BenchTask task = read(context);
    // Partial keys are looked up in a database; opening it read-only reports a missing one.
    const bool needs_stored = std::any_of(task.problems.begin(), task.problems.end(), [&](const Problem& problem) {
      return !all_named(task.variants, task.templates.at(problem.key()));
    });
    if (needs_stored && db::is_absent(task.measuring.database))
      (void)db::Database::open(task.measuring.database, db::OpenMode::kReadOnly);
    ResultDocument results(context.terminal(), task.measuring.json, task.problems.size());
    const auto choices = choose_devices(context, task.measuring.device);
    require_gpu(choices.front(), "a bench");
    const ExitCode code = measure(context, task.measuring, choices, task.problems, results,
                                  {[&](MeasuringRun& run, const Problem& problem) {
                                    return bench_problem(context, run, task, results, problem);
                                  }});
    results.finish();
    return code;
  }

 private:
  [[nodiscard]] BenchTask read(Context& context) const {
    BenchTask task{.measuring = measuring_.read(context),
                   .problems = problems_.problems(),
                   .selector = template_,
                   .templates = {},
                   .variants = variants_.empty() ? std::vector<std::string>{std::string(kBest)} : variants_,
                   .rounds = parse_rounds(rounds_, session::kMinimumRounds),
                   .counters = counters_};
    task.measuring.session.this_board = this_board_;
    for (const Problem& problem : task.problems)
      task.templates.emplace(problem.key(), problems_.templates_for(context.catalogue(), template_, problem));
    return task;
  }

  ProblemOptions problems_;
  MeasuringArguments measuring_;
  std::vector<std::string> variants_;
  std::string template_, rounds_ = "24";
  bool this_board_ = false, counters_ = false;
};

}  // namespace

std::unique_ptr<Command> make_bench_command() { return std::make_unique<BenchCommand>(); }

}  // namespace pgtune::tool
