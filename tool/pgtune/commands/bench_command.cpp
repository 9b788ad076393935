// SPDX-License-Identifier: MIT
// pgtune bench: measures chosen stored variants again and says whether what is stored of them holds.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/options/compile_options.hpp"
#include "tool/pgtune/cli/options/conditions_options.hpp"
#include "tool/pgtune/cli/options/number_options.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"
#include "tool/pgtune/cli/terminal/live_line.hpp"
#include "tool/pgtune/commands/commands.hpp"
#include "tool/pgtune/measuring/clock_session.hpp"
#include "tool/pgtune/measuring/database_store.hpp"
#include "tool/pgtune/measuring/device_choice.hpp"
#include "tool/pgtune/measuring/signals.hpp"
#include "tool/pgtune/report/announcement.hpp"
#include "tool/pgtune/report/bench_outcome.hpp"
#include "tool/pgtune/report/result_json.hpp"
#include "tuner/session/pipeline/search_state.hpp"
#include "tuner/template/variant_text.hpp"
#include "tuner/util/suggestion.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

constexpr const char* kBest = "best";

class BenchCommand : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "bench"; }
  [[nodiscard]] std::string description() const override {
    return "Measure stored variants again, and say whether they hold";
  }
  [[nodiscard]] std::string examples() const override {
    return "pgtune bench --shape 4096x4096x4096\n"
           "pgtune bench --shape 4096x4096x4096 --rounds 48 --power\n"
           "pgtune bench --shape 512x512x512 --variant best --variant BM=64,BN=64,...";
  }
  void add_options(CommandLine& app) override;
  [[nodiscard]] ExitCode run(Context& context) override;

 private:
  ExitCode bench_all(Context& context, const DeviceChoice& choice, const LockedClock& clock);
  ExitCode bench_problem(Context& context, const DeviceChoice& choice, DatabaseStore& store, const Problem& problem);
  ExitCode measure(Context& context, DatabaseStore& store, BenchOutcome outcome);
  [[nodiscard]] std::vector<session::RankedVariant> choose(const space::TemplateSet& templates,
                                                           const session::Answer& answer,
                                                           const std::map<std::string, session::StoredTrial>& trials,
                                                           const Problem& problem) const;
  ExitCode report(Context& context, const BenchOutcome& outcome);

  ProblemOptions problem_options_;
  ConditionsOptions conditions_options_;
  CompileOptions compile_options_;
  std::vector<std::string> variants_;
  std::string device_ = "auto", database_, template_, rounds_ = "24", seed_ = "1";
  bool json_ = false, quiet_ = false;

  Conditions conditions_;                ///< of this run, the locked clock included
  StopSignals* signals_ = nullptr;       ///< of the running bench
  std::unique_ptr<device::Device> gpu_;  ///< opened once, used for every problem
  json results_ = json::array();
};

void BenchCommand::add_options(CommandLine& app) {
  problem_options_.add_to(app);
  const char* bench = "Bench";
  app.add_option("--variant", variants_, "best (default), or a variant's key as pgtune show prints it; repeatable")
      .option_text("KEY")
      .one_value_each()
      .group(bench);
  app.add_option("--rounds", rounds_, "Rounds, each with a sample of every variant and of cuBLASLt (default: 24)")
      .option_text("N")
      .group(bench);
  add_template_option(app, template_);
  add_device_option(app, device_);
  add_database_option(app, database_);
  for (const char* shared : {"--template", "--device", "--db"}) app.get_option(shared).group(bench);
  compile_options_.add_to(app, bench);
  app.add_option("--seed", seed_, "Order of the rounds (default: 1)").option_text("N").group(bench);
  conditions_options_.add_to(app);
  add_json_option(app, json_);
  app.add_flag("-q,--quiet", quiet_, "Results only").group(kOutputGroup);
}

/// What is stored of a variant that was screened but is in no stored ranking.
session::RankedVariant screened(const Variant& variant, const session::StoredTrial& trial, const Problem& problem) {
  session::RankedVariant out;
  out.variant = variant;
  out.build = trial.build;
  out.time_s = session::median_per_launch_s(trial.report.samples);
  out.tflops = out.time_s > 0 ? problem.flops() / out.time_s * 1e-12 : 0;
  return out;
}

/// The key in a Variant::id().
std::string key_in(const std::string& id) { return id.substr(id.find('/') + 1); }

[[noreturn]] void fail_unknown(const std::string& key, const session::Answer& answer,
                               const std::map<std::string, session::StoredTrial>& trials) {
  std::vector<std::string> known, ranked{kBest};
  for (const auto& [id, trial] : trials) {
    if (trial.report.outcome.kind == OutcomeKind::kOk) known.push_back(key_in(id));
  }
  for (const session::RankedVariant& row : answer.ranking) ranked.push_back(row.variant.key());
  // A near key of any variant that was right; where none is near, only those worth naming.
  std::string hint = suggestion(key, known);
  if (!hint.starts_with("; did you mean")) hint = suggestion(key, ranked);
  throw CommandError(ErrorKind::kUsage, fmt::format("no variant '{}' is stored for this shape{}. 'pgtune show --json' "
                                                    "prints keys.",
                                                    key, hint));
}

std::vector<session::RankedVariant> BenchCommand::choose(const space::TemplateSet& templates,
                                                         const session::Answer& answer,
                                                         const std::map<std::string, session::StoredTrial>& trials,
                                                         const Problem& problem) const {
  std::vector<session::RankedVariant> chosen;
  const std::vector<std::string> wanted = variants_.empty() ? std::vector<std::string>{kBest} : variants_;
  for (const std::string& word : wanted) {
    // A key, or an id where templates share keys.
    const auto meant = [&](const std::string& id) {
      return word == kBest ? id == answer.best().variant.id() : word == id || word == key_in(id);
    };
    const auto row_meant = [&](const session::RankedVariant& row) { return meant(row.variant.id()); };
    if (std::any_of(chosen.begin(), chosen.end(), row_meant)) continue;
    const auto ranked = std::find_if(answer.ranking.begin(), answer.ranking.end(), row_meant);
    if (ranked != answer.ranking.end()) {
      chosen.push_back(*ranked);
      continue;
    }
    const auto trial =
        std::find_if(trials.begin(), trials.end(), [&](const auto& entry) { return meant(entry.first); });
    if (trial == trials.end() || trial->second.report.outcome.kind != OutcomeKind::kOk)
      fail_unknown(word, answer, trials);
    const space::TemplateDefinition& definition = templates.of({trial->first.substr(0, trial->first.find('/')), {}});
    chosen.push_back(
        screened(value_or_throw(space::parse_variant(definition, key_in(trial->first))), trial->second, problem));
  }
  return chosen;
}

ExitCode BenchCommand::report(Context& context, const BenchOutcome& outcome) {
  const session::BenchResult& result = outcome.result;
  if (json_) {
    results_.push_back(bench_json(outcome));
  } else {
    context.terminal().print(bench_text(outcome, context.terminal()));
  }
  if (result.interrupted) return signals_->exit_code().value_or(ExitCode::kInterrupted);
  if (result.gave_up) return ExitCode::kPartial;
  return result.answer ? ExitCode::kDone : ExitCode::kNothingValid;
}

ExitCode BenchCommand::measure(Context& context, DatabaseStore& store, BenchOutcome outcome) {
  const CompileLimits compile = compile_options_.limits(context);
  std::unique_ptr<device::Device> replay;
  if (outcome.device.source == "replay") {
    replay = open_device(context, outcome.device, outcome.templates, outcome.problem, compile);
  } else if (gpu_ == nullptr) {
    gpu_ = open_device(context, outcome.device, outcome.templates, outcome.problem, compile);
  }
  announce_versions(context.terminal(), outcome.templates);
  session::BenchRequest request;
  request.rounds = static_cast<int>(std::min<std::int64_t>(parse_count("--rounds", rounds_, 1), 10'000));
  request.measure_energy = conditions_options_.power();
  for (const session::RankedVariant& row : outcome.chosen) request.variants.push_back(row.variant);
  session::Options options;
  options.seed = static_cast<std::uint64_t>(parse_count("--seed", seed_, 0));
  options.conditions = conditions_;
  options.command_line = context.command_line();
  LiveLine live(context.terminal());
  auto result = session::run_bench(outcome.problem, outcome.templates, replay ? *replay : *gpu_, store, request,
                                   options, signals_->flag(), [&live](const session::Progress& p) { live.update(p); });
  live.clear();
  outcome.result = value_or_throw(std::move(result));
  return report(context, outcome);
}

ExitCode BenchCommand::bench_problem(Context& context, const DeviceChoice& choice, DatabaseStore& store,
                                     const Problem& problem) {
  const space::TemplateSet all = context.catalogue().select(template_, problem);
  // A search over all templates answers for them; without one, searches over each of them do.
  std::vector<space::TemplateSet> searched{all};
  if (all.definitions().size() > 1) searched.insert(searched.end(), all.definitions().begin(), all.definitions().end());
  ExitCode code = ExitCode::kDone;
  bool any = false;
  for (const space::TemplateSet& candidates : searched) {
    const auto [device, templates] = answering(choice, candidates, problem);
    const session::StoreKey key{problem, templates, device.info, device.source, conditions_};
    auto answer = store.answer(key);
    if (!answer) continue;
    any = true;
    auto chosen = choose(templates, *answer, store.trials(key), problem);
    code = worse(code, measure(context, store,
                               {problem, templates, device, conditions_, std::move(*answer), std::move(chosen), {}}));
    if (templates.definitions().size() > 1) break;
  }
  if (any) return code;
  context.terminal().error(fmt::format(
      "nothing is stored for {} on this {} under these conditions ({}). Results count for the very GPU they "
      "were measured on. Run 'pgtune search --shape {}' with these conditions first; a template of your own "
      "needs --template FILE.json here.",
      problem.title(), choice.info.name, conditions_text(conditions_), problem.shape()));
  return ExitCode::kNothingValid;
}

ExitCode BenchCommand::bench_all(Context& context, const DeviceChoice& choice, const LockedClock& clock) {
  db::Database database = context.open_database(database_, db::OpenMode::kReadWriteCreate);
  DatabaseStore store(database);
  ExitCode code = ExitCode::kDone;
  const std::vector<Problem> problems = problem_options_.problems();
  for (const Problem& problem : problems) {
    clock.check();
    code = worse(code, bench_problem(context, choice, store, problem));
    if (signals_->exit_code()) break;
  }
  gpu_.reset();  // before the clocks are given back
  if (!json_) return code;
  const json document = results_.size() == 1 ? results_.front() : json{{"schema", kJsonSchema}, {"results", results_}};
  context.terminal().print(document.dump(2) + '\n');
  return code;
}

ExitCode BenchCommand::run(Context& context) {
  if (quiet_) context.terminal().set_verbosity(Verbosity::kQuiet);
  // These report bad values before any work.
  (void)problem_options_.problems();
  (void)parse_count("--rounds", rounds_, 1);
  (void)parse_count("--seed", seed_, 0);
  (void)compile_options_.limits(context);
  conditions_ = conditions_options_.conditions(context.config());
  (void)conditions_options_.lock_request(context.config(), "gpu");
  // A bench is nothing without a database: opening it to read only says so where there is none.
  if (!std::filesystem::exists(context.database_path(database_)))
    (void)context.open_database(database_, db::OpenMode::kReadOnly);
  const DeviceChoice choice = choose_device(context, device_);
  const auto lock = conditions_options_.lock_request(context.config(), choice.source);
  StopSignals signals;
  signals_ = &signals;
  return with_clocks(context, choice, lock, [&](const LockedClock& clock) {
    conditions_.locked_sm_clock_hz = clock.hz;
    const Announcement first{choice, conditions_, context.database_path(database_).string()};
    announce(context.terminal(), first.under(clock));
    return bench_all(context, choice, clock);
  });
}

}  // namespace

std::unique_ptr<Command> make_bench_command() { return std::make_unique<BenchCommand>(); }

}  // namespace pgtune::tool
