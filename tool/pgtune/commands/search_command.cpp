// SPDX-License-Identifier: MIT
// pgtune search: finds the fastest variant for each problem and remembers it.
#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"
#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/commands/family_task.hpp"
#include "tool/pgtune/commands/search_options.hpp"
#include "tool/pgtune/commands/search_task.hpp"
#include "tool/pgtune/learning/trained_model.hpp"
#include "tool/pgtune/measuring/device_choice.hpp"
#include "tuner/util/named_enum.hpp"

namespace pgtune::tool {
namespace {

struct Effort {
  const char* name;
  double seconds;  ///< for each problem
};
constexpr double kLeftToGain = 0.01;  // with --total, of the list's time
constexpr std::array kEfforts{Effort{"quick", 10}, Effort{"normal", 60}, Effort{"thorough", 600}};

const Effort& parse_effort(const std::string& word) {
  for (const Effort& effort : kEfforts) {
    if (word == effort.name) return effort;
  }
  throw CommandError(ErrorKind::kUsage, fmt::format("unknown --effort '{}'. Give quick, normal or thorough.", word));
}

class SearchCommand final : public SearchOptions {
 public:
  std::string name() const override { return "search"; }
  std::string description() const override { return "Find the fastest kernel for one or more shapes, and remember it"; }
  std::string examples() const override {
    return "pgtune search --shape 4096x4096x4096\n"
           "pgtune search --shapes shapes.txt --layout nt --budget 60s --json\n"
           "pgtune search --shape 1..8192x4096x14336 --dtype bf16 --layout nt\n"
           "pgtune search --operation softmax --size M=4096,N=8192 --dtype bf16";
  }

  void add_options(CommandLine& app) override {
    const char* group = "Search";
    problems_.add_to(app);
    add_template_option(app, template_).group(group);
    grid_.add_to(app, "full where --strategy is model, which tries presets first; else preset").group(group);
    app.add_option("--budget", budget_,
                   "Time for each problem (60s, 5m), all of it used; at least eight variants are tried (default: until "
                   "the rest of the presets is expected to gain less than the margin of ties)")
        .option_text("TIME")
        .group(group);
    app.add_option("--total", total_,
                   "Time for the trials of the whole list of --shapes: ranges of M first, then shapes by weight (run "
                   "--trace writes them), "
                   "less where under 1 % of it is left to gain")
        .option_text("TIME")
        .group(group);
    app.add_option("--variants", variants_,
                   "Number of variants to try for each problem, however little is left to gain")
        .option_text("N")
        .group(group);
    app.add_option(
           "--effort", effort_,
           "Instead: quick (10 s a problem), normal (60 s) or thorough (10 minutes), less where little is left to gain")
        .option_text("NAME")
        .complete_with({"quick", "normal", "thorough"})
        .group(group);
    add_strategy_option(app, strategy_).group(group);
    measuring_.add_to(app, {.group = group});
    app.add_option("--objective", objective_,
                   "What to minimize: time (default), energy (joules a launch) or edp (energy times time); the energy "
                   "of all finalists is measured")
        .option_text("NAME")
        .complete_with(pgtune::words_of<session::Objective>())
        .group(kMeasuringGroup);
    app.add_option("--settled", settled_,
                   "At the power cap, race the N fastest variants in settled samples of a second each (default: up "
                   "to 32 in shorter samples)")
        .option_text("N")
        .group(kMeasuringGroup);
    app.add_option("--kernels", kernels_, "Most kernels for a range of M (default: 32)").option_text("N").group(group);
    app.add_option("--probes", probes_, "M at which a range's loss is measured (default: 8)")
        .option_text("N")
        .group(group);
    app.add_flag("--batch-invariant", one_order_, "Kernels of a range of M all add in one order").group(group);
    app.add_flag("--force", force_, "Measure again, even where the database has the answer").group(group);
    app.add_flag("--this-board", this_board_,
                 "Measure again where only other boards of this device class have an answer")
        .group(group);
    app.add_flag("--retry-failed", retry_failed_, "Try variants again that crashed or hung in earlier searches")
        .group(group);
    app.add_flag("--counters", counters_,
                 "Read hardware counters of the winner and of cuBLASLt with the toolkit's profiler (ncu)")
        .group(group);
    app.add_flag("--dry-run", dry_run_, "Print what would be searched, and stop").group(group);
    app.show_first({"--shape", "--shapes", "--dtype", "--layout", "--epilogue", "--operation", "--size", "--template",
                    "--budget", "--effort", "--device", "--db", "--force", "--dry-run", "--lock-clocks", "--power",
                    "--json", "--quiet"});
  }

  SearchRequest request(Context& context) const override {
    SearchTask task = read(context);
    if (!task.families.empty())
      throw CommandError(ErrorKind::kUsage, "A job has single shapes. Search a range of M with 'pgtune search'.");
    require_device_names(task.measuring.device);
    return {std::move(task.problems), std::move(task.measuring.session), task.measuring.compile.jobs};
  }

  ExitCode run(Context& context) override {
    SearchTask task = read(context);
    ResultDocument results(context.terminal(), task.measuring.json, task.problems.size() + task.families.size());
    ExitCode code = ExitCode::kDone;
    if (!task.families.empty()) code = run_families(task, context, results);
    if (!task.problems.empty() && code != ExitCode::kInterrupted && code != ExitCode::kTerminated) {
      if (task.total_s) share_out(task);
      code = worse(code, tool::run(task, context, results));
    }
    results.finish();
    return code;
  }

 private:
  [[nodiscard]] SearchTask read(Context& context) const {
    SearchTask task;
    task.measuring = measuring_.read(context);
    read_problems(task);
    task.dry_run = dry_run_;
    task.counters = counters_;
    session::SessionOptions& session = task.measuring.session;
    if (!budget_.empty()) session.budget.seconds = parse_budget(budget_, "--variants");
    if (!variants_.empty()) session.budget.trials = parse_count("--variants", variants_, 1);
    if (!strategy_.empty()) {
      require_strategy(strategy_);
      session.strategy = strategy_;
    } else if (context.config().strategy) {
      session.strategy = *context.config().strategy;
    }
    // Without a stopping rule the strategy needs the whole space, even if another strategy's answer had stopped early.
    const bool learns = search::find_strategy(session.strategy)->asks_expectation;
    if (!effort_.empty() || (budget_.empty() && variants_.empty() && learns)) session.budget.acceptable_miss = 0;
    std::vector<Problem> problems = task.problems;
    for (const session::FamilyRequest& family : task.families) problems.push_back(family.problem);
    for (const Problem& problem : problems) {
      const KindOfProblem kind = kind_of(problem);
      if (task.templates.contains(kind)) continue;
      const space::TemplateSet set = problems_.templates_for(context.catalogue(), template_, problem);
      task.templates.insert({kind, grid_.of(set, learns)});
    }
    if (!effort_.empty()) take_effort(task.measuring.session);
    task.probe_budget = session.budget;
    if (budget_.empty() && variants_.empty() && effort_.empty()) task.probe_budget.seconds = session::kProbeSearch_s;
    if (!total_.empty()) {
      if (!budget_.empty() || !variants_.empty() || !effort_.empty())
        throw CommandError(ErrorKind::kUsage, "--total excludes --budget, --variants and --effort. Give one.");
      task.total_s = parse_seconds("--total", total_);
    }
    OwnTemplates templates;
    for (const auto& [kind, set] : task.templates) templates.push_back(set);
    session.predictor = trained_model_before(context, task.measuring.database, templates);
    session.settled_clocks = trained_settled_clocks(context, task.measuring.database, std::move(templates));
    const auto objective = session::parse_objective(objective_);
    if (!objective)
      throw CommandError(ErrorKind::kUsage,
                         fmt::format("unknown --objective '{}'. Give time, energy or edp.", objective_));
    session.objective = *objective;
    if (!settled_.empty()) session.settled_entrants = static_cast<std::size_t>(parse_count("--settled", settled_, 2));
    session.force = force_;
    session.this_board = this_board_;
    session.retry_failed = retry_failed_;
    task.ends_with = ends_with(session, learns);
    return task;
  }

  void read_problems(SearchTask& task) const {
    session::FamilyRequest family;
    if (!kernels_.empty()) family.kernels = static_cast<std::size_t>(parse_count("--kernels", kernels_, 1));
    if (!probes_.empty()) family.probes = static_cast<std::size_t>(parse_count("--probes", probes_, 0));
    family.one_order = one_order_;
    std::vector<RequestedShape> shapes = problems_.requested();
    double known = 0, with_weight = 0;
    for (const RequestedShape& shape : shapes) {
      known += shape.weight.value_or(0);
      with_weight += shape.weight ? 1 : 0;
    }
    for (RequestedShape& shape : shapes) {
      const double weight = shape.weight.value_or(with_weight > 0 ? known / with_weight : 1);
      if (shape.first_m) {
        family.problem = std::move(shape.problem);
        family.first_m = *shape.first_m;
        task.families.push_back(family);
        task.family_weights.push_back(weight);
      } else {
        task.problems.push_back(std::move(shape.problem));
        task.problem_weights.push_back(weight);
      }
    }
    if (task.families.empty()) {
      const char* const of_families = !kernels_.empty()  ? "--kernels"
                                      : !probes_.empty() ? "--probes"
                                      : one_order_       ? "--batch-invariant"
                                                         : nullptr;
      if (of_families != nullptr)
        throw CommandError(ErrorKind::kUsage,
                           fmt::format("{} is for a range of M, such as --shape 1..8192x4096x4096.", of_families));
      return;
    }
    const bool power = task.measuring.session.measure_energy;
    if (counters_ || power || objective_ != "time")
      throw CommandError(ErrorKind::kUsage, fmt::format("{} is for single shapes. Leave it out for a range of M.",
                                                        counters_ ? "--counters"
                                                        : power   ? "--power"
                                                                  : "--objective"));
  }

  /// A time, and an end where the strategy can say that there is nothing left to gain.
  void take_effort(session::SessionOptions& session) const {
    for (const auto& [option, text] : {std::pair{"--budget", &budget_}, std::pair{"--variants", &variants_}}) {
      if (!text->empty())
        throw CommandError(ErrorKind::kUsage, fmt::format("--effort and {} exclude each other. Give one.", option));
    }
    session.budget.seconds = parse_effort(effort_).seconds;
  }

  /// What ranges of M left of the total, among the problems. All may miss kLeftToGain of the list's time together, each
  /// the same share of it.
  static void share_out(SearchTask& task) {
    double problems = 0, all = 0;
    for (const double weight : task.problem_weights) problems += weight;
    for (const double weight : task.family_weights) all += weight;
    all += problems;
    for (std::size_t i = 0; i < task.problems.size(); ++i) {
      const double weight = task.problem_weights[i];
      task.budgets[task.problems[i].key()] = {
          .seconds = *task.total_s * weight / problems,
          .trials = {},
          .acceptable_miss = kLeftToGain / static_cast<double>(task.problems.size()) * all / weight};
    }
  }

  /// When the search of a problem ends, in words.
  [[nodiscard]] std::string ends_with(const session::SessionOptions& session, bool learns) const {
    if (!total_.empty())
      return duration_text(parse_seconds("--total", total_)) + " by weight, less where under 1 % of it is left to gain";
    std::string text = effort_.empty() ? "" : effort_ + ", ";
    if (session.budget.seconds) text += duration_text(*session.budget.seconds) + " a problem";
    if (session.budget.trials)
      text += fmt::format("{}{} variants a problem", session.budget.seconds ? " or " : "", *session.budget.trials);
    if (!session.budget.seconds && !session.budget.trials) text = "until all is tried";
    if (session.budget.acceptable_miss && learns) text += ", less where little is left to gain";
    return text;
  }

  ProblemOptions problems_;
  MeasuringArguments measuring_;
  GridOption grid_;
  std::string kernels_, probes_;
  std::string template_, budget_, total_, variants_, effort_, strategy_, objective_ = "time", settled_;
  bool one_order_ = false;
  bool force_ = false, this_board_ = false, retry_failed_ = false, dry_run_ = false, counters_ = false;
};

}  // namespace

std::unique_ptr<SearchOptions> make_search_options() { return std::make_unique<SearchCommand>(); }
std::unique_ptr<Command> make_search_command() { return std::make_unique<SearchCommand>(); }

}  // namespace pgtune::tool
