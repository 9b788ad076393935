// SPDX-License-Identifier: MIT
// `pgtune simulate`: search strategies on earlier measurements.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "simulate/program/foreign_conversion.hpp"
#include "simulate/program/foreign_file.hpp"
#include "simulate/program/room.hpp"
#include "simulate/program/simulation_view.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/learning/learned_expectation.hpp"
#include "tool/pgtune/recording/recordings.hpp"

namespace pgtune::tool {
namespace {

/// The parts of "8,16,32".
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

class SimulateCommand final : public Command {
 public:
  std::string name() const override { return "simulate"; }
  std::string description() const override { return "Try search strategies on what was measured before"; }
  std::string examples() const override {
    return "pgtune simulate\n"
           "pgtune simulate --strategy guided,random,stratified --budget 8,16,32\n"
           "pgtune simulate --strategy model,guided --leave-out dtype\n"
           "pgtune simulate --from results.db --repeats 100 --per-problem\n"
           "pgtune simulate --table gemm_a100.json --strategy model,random\n"
           "pgtune simulate --csv > losses.csv";
  }

  void add_options(CommandLine& app) override {
    const char* group = "Simulation";
    app.add_option("--from", from_,
                   "Databases whose searches on GPUs and imported tables are used (default: this build's unbiased "
                   "tables, drawn at random)")
        .option_text("FILE")
        .one_value_each()
        .group(group);
    app.add_option(
           "--table", foreign_,
           "Tables of other tools: T4 result files and caches of Kernel Tuner (repeatable; without pgtune's own unless "
           "--from is given)")
        .option_text("FILE")
        .one_value_each()
        .group(group);
    app.add_option("--strategy", strategies_, "Strategies, separated by commas (default: all)")
        .option_text("NAMES")
        .group(group);
    app.add_option("--budget", budgets_, "Variants a search may try (default: 8,16,32,64,128)")
        .option_text("NUMBERS")
        .group(group);
    app.add_option("--repeats", repeats_, "Runs of each strategy on each table (default: 20)")
        .option_text("N")
        .group(group);
    app.add_option("--seed", seed_, "Seed of the first run; later runs count up from it (default: 1)")
        .option_text("N")
        .group(group);
    app.add_option(
           "--leave-out", leave_out_,
           "Train model on the other tables, and by default on this build's recordings, without those of the same "
           "problem, dtype, device or template; takes a minute. With device, tables of other tools train it with "
           "--learn-rows rows of the same kernel on other devices (default: no training)")
        .option_text("NAME")
        .group(group);
    app.add_option("--learn-from", known_,
                   "Train model on this table of another tool, and try it on those of --table (repeatable)")
        .option_text("FILE")
        .one_value_each()
        .group(group);
    app.add_option("--learn-rows", known_rows_,
                   "Rows of each table to train on, drawn anew for each run (default: 128)")
        .option_text("N")
        .group(group);
    app.add_option("--margin", margin_,
                   "Margin of ties in %: a strategy stops where it expects less gain from the rest of the presets "
                   "(default: 0.3; searches at the power cap use 0.5)")
        .option_text("PERCENT")
        .group(group);
    app.add_flag("--per-problem", per_problem_, "Losses of every problem too").group(kOutputGroup);
    add_json_option(app, json_);
    app.add_flag("--csv", csv_, "Print CSV on standard output, losses as fractions").group(kOutputGroup);
  }

  ExitCode run(Context& context) override {
    if (json_ && csv_) throw CommandError(ErrorKind::kUsage, "--json and --csv exclude each other. Give one.");
    Simulation simulation;
    simulation.task = read();
    simulation.unbiased = from_.empty() && foreign_.empty();
    const auto leave_out = parse_leave_out(leave_out_);
    if (!leave_out_.empty() && !leave_out)
      throw CommandError(ErrorKind::kUsage,
                         fmt::format("unknown --leave-out '{}'. Give problem, dtype, device or template.", leave_out_));
    const KnownTemplates templates(context.catalogue());
    simulation.tables = load(templates);
    if (simulation.tables.empty()) {
      context.terminal().error("no search on a GPU is in there. Search first, or leave --from out.");
      return ExitCode::kNothingValid;
    }
    if (!let_model_learn(context, templates, leave_out, simulation)) return ExitCode::kNothingValid;
    simulation.losses = simulate(simulation.tables, simulation.task);
    context.terminal().print(csv_    ? simulation_csv(simulation)
                             : json_ ? simulation_json(simulation).dump(2) + '\n'
                                     : simulation_text(simulation, per_problem_));
    const auto is_empty = [](const TableLosses& own) {
      return std::all_of(own.losses.begin(), own.losses.end(), [](const auto& losses) { return losses.empty(); });
    };
    if (!std::all_of(simulation.losses.begin(), simulation.losses.end(), is_empty)) return ExitCode::kDone;
    context.terminal().error("no table has twice as many variants as the least --budget. Give a smaller one.");
    return ExitCode::kNothingValid;
  }

 private:
  [[nodiscard]] SimulationTask read() const {
    SimulationTask task;
    if (strategies_.empty()) {
      for (const search::StrategyInfo& info : search::strategies()) task.strategies.push_back(info.name);
    } else {
      task.strategies = parts_of(strategies_);
    }
    for (const std::string& strategy : task.strategies) require_strategy(strategy);
    for (const std::string& budget : parts_of(budgets_))
      task.budgets.push_back(static_cast<std::size_t>(parse_count("--budget", budget, 1)));
    std::sort(task.budgets.begin(), task.budgets.end());
    task.budgets.erase(std::unique(task.budgets.begin(), task.budgets.end()), task.budgets.end());
    constexpr std::int64_t kMostRepeats = 100'000;
    const std::int64_t repeats = parse_count("--repeats", repeats_, 1);
    if (repeats > kMostRepeats)
      throw CommandError(ErrorKind::kUsage,
                         fmt::format("--repeats {} is more than {}. Give fewer.", repeats, kMostRepeats));
    task.repeats = static_cast<int>(repeats);
    task.seed = static_cast<std::uint64_t>(parse_count("--seed", seed_, 0));
    const double margin = parse_real("--margin", margin_);
    if (!(margin > 0 && margin < 100))
      throw CommandError(ErrorKind::kUsage,
                         fmt::format("--margin {} is no margin. Give more than 0 and less than 100 %.", margin_));
    task.margin = margin / 100;
    return task;
  }

  /// Returns whether there is something to learn from. The command owns that data and outlives the simulation.
  bool let_model_learn(Context& context, const KnownTemplates& templates, std::optional<LeaveOut> leave_out,
                       Simulation& simulation) {
    if (!known_.empty() && leave_out)
      throw CommandError(ErrorKind::kUsage, "--learn-from and --leave-out exclude each other. Give one.");
    if (!known_.empty() && foreign_.empty())
      throw CommandError(ErrorKind::kUsage, "--learn-from trains model for other tools' tables. Give some by --table.");
    const auto rows = static_cast<std::size_t>(parse_count("--learn-rows", known_rows_, 1));
    if (leave_out) return teach_by_others(context, templates, *leave_out, rows, simulation);
    if (known_.empty()) return true;
    for (const std::string& file : known_) known_tables_.push_back(simulated_table(read_foreign_table(file), file));
    std::vector<const RecordedTable*> known;
    for (const RecordedTable& table : known_tables_) known.push_back(&table);
    simulation.learnt_from =
        fmt::format("model has learnt from up to {} rows of each of {} tables", rows, known.size());
    simulation.task.expect = [known = std::move(known), rows, &tables = simulation.tables](
                                 std::size_t table, std::uint64_t seed) -> std::optional<search::Expectation> {
      if (tables[table].name.empty()) return std::nullopt;  // of pgtune's own, which have features
      return expectation_from(known, rows, tables[table], seed);
    };
    return true;
  }

  /// Predicts each table from the others and, by default, the recordings, without what is left out.
  bool teach_by_others(Context& context, const KnownTemplates& templates, LeaveOut leave_out, std::size_t rows,
                       Simulation& simulation) {
    const std::vector<RecordedTable>& tables = simulation.tables;
    const auto is_foreign = [](const RecordedTable& table) { return !table.name.empty(); };
    if (leave_out != LeaveOut::kDevice && std::all_of(tables.begin(), tables.end(), is_foreign))
      throw CommandError(
          ErrorKind::kUsage,
          fmt::format("--leave-out {} needs tables of pgtune: those of other tools name a kernel and a device, no "
                      "problem, dtype or template that is known. Give --leave-out device, or --learn-from FILE.",
                      leave_out_));
    std::vector<RecordedTable> teachers;
    if (from_.empty() && foreign_.empty() && has_built_in_recording())
      add_tables(templates, open_recordings(""), teachers);
    taught_ = cross_expectations(tables, teachers, templates, leave_out);
    foreign_teachers_.resize(tables.size());
    simulation.left_out = leave_out_;
    for (std::size_t i = 0; i < tables.size(); ++i) {
      if (leave_out == LeaveOut::kDevice && is_foreign(tables[i])) {
        foreign_teachers_[i] = foreign_teachers(tables, i);
        taught_[i].by = lesson_of(foreign_teachers_[i]);
      }
      simulation.lessons.push_back(taught_[i].by);
    }
    if (std::all_of(taught_.begin(), taught_.end(), [](const Taught& taught) { return taught.by.tables == 0; })) {
      context.terminal().error(fmt::format(
          "--leave-out {0} leaves nothing to learn from: no table has another that is not of the same {0}{1}. Add "
          "tables with --from or --table, or leave --leave-out away.",
          leave_out_, std::any_of(tables.begin(), tables.end(), is_foreign) ? " and is of the same kernel" : ""));
      return false;
    }
    simulation.task.expect = [this, rows, &tables](std::size_t table,
                                                   std::uint64_t seed) -> std::optional<search::Expectation> {
      if (foreign_teachers_[table].empty()) return taught_[table].expectation;
      return expectation_from(foreign_teachers_[table], rows, tables[table], seed);
    };
    return true;
  }

  [[nodiscard]] std::vector<RecordedTable> load(const KnownTemplates& templates) const {
    std::vector<RecordedTable> tables;
    for (const std::string& file : foreign_) tables.push_back(simulated_table(read_foreign_table(file), file));
    if (from_.empty() && foreign_.empty()) add_tables(templates, open_unbiased_tables(), tables);
    for (const std::string& file : from_) add_tables(templates, open_recordings(file), tables);
    return tables;
  }

  static void add_tables(const KnownTemplates& templates, const std::vector<db::Database>& databases,
                         std::vector<RecordedTable>& tables) {
    for (const db::Database& database : databases) {
      for (RecordedTable& table : recorded_tables(database, templates)) {
        table.table.in_preset = in_preset(table, templates);
        tables.push_back(std::move(table));
      }
      for (RecordedTable& table : imported_tables(database)) tables.push_back(std::move(table));
    }
  }

  std::vector<std::string> from_, foreign_, known_;
  std::string strategies_, budgets_ = "8,16,32,64,128", repeats_ = "20", seed_ = "1", leave_out_, known_rows_ = "128",
                           margin_ = "0.3";
  std::vector<RecordedTable> known_tables_;
  std::vector<Taught> taught_;                                       ///< of each table
  std::vector<std::vector<const RecordedTable*>> foreign_teachers_;  ///< likewise; of those of other tools
  bool per_problem_ = false, json_ = false, csv_ = false;
};

}  // namespace

std::unique_ptr<Command> make_simulate_command() { return std::make_unique<SimulateCommand>(); }

}  // namespace pgtune::tool
