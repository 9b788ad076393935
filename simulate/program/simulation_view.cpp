// SPDX-License-Identifier: MIT
#include "simulate/program/simulation_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tuner/model/json.hpp"
#include "tuner/util/count_text.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

/// Printed with the figures, which mislead without it.
constexpr const char* kBias =
    "A recording holds what its search tried, not the whole space: what costs and seeds passed over is in no table, so "
    "losses come out too small, random's most of all, and whatever chose the rows is favoured. Strategies are compared "
    "fairly only on tables of whole spaces or random samples of them.";
constexpr const char* kSample =
    "A table's variants were drawn at random from all that are legal, so that no strategy is favoured; the best of so "
    "many is not the best of the whole space.";

/// Facts about the tables; null if all are other tools'.
const char* caution(const Simulation& simulation) {
  if (simulation.unbiased) return kSample;
  const bool own = std::any_of(simulation.tables.begin(), simulation.tables.end(),
                               [](const RecordedTable& table) { return table.name.empty(); });
  return own ? kBias : nullptr;
}

std::string cell(const LossSummary& summary) {
  if (summary.tables == 0) return "-";
  return fmt::format("{:.1f}/{:.1f}", 100 * summary.median, 100 * summary.p90);
}

/// Whether some strategy, or the given one, has a stopping rule.
bool any_stops(const Simulation& simulation, std::optional<std::size_t> strategy = {}) {
  return std::any_of(simulation.losses.begin(), simulation.losses.end(), [&](const TableLosses& own) {
    return (!strategy || own.strategy == *strategy) && !own.stops.empty();
  });
}

TextTable table_of(const Simulation& simulation, const char* first, bool stops) {
  std::vector<TextTable::Column> columns{{first}};
  for (const std::size_t budget : simulation.task.budgets) columns.push_back({std::to_string(budget), Align::kRight});
  if (stops) {
    columns.push_back({"enough after", Align::kRight});
    columns.push_back({"lost then", Align::kRight});
  }
  return TextTable(std::move(columns));
}

void add_stop(const StopSummary& stop, std::vector<std::string>& cells) {
  cells.push_back(stop.lost.tables == 0 ? "-" : fmt::format("{:.0f}/{:.0f}", stop.tried_median, stop.tried_p90));
  cells.push_back(cell(stop.lost));
}

std::string overall_text(const Simulation& simulation) {
  const bool stops = any_stops(simulation);
  TextTable text = table_of(simulation, "strategy", stops);
  const std::size_t budgets = simulation.task.budgets.size();
  for (std::size_t strategy = 0; strategy < simulation.task.strategies.size(); ++strategy) {
    std::vector<std::string> cells{simulation.task.strategies[strategy]};
    for (std::size_t i = 0; i < budgets; ++i) cells.push_back(cell(summary(simulation.losses, strategy, i)));
    if (stops) add_stop(stop_summary(simulation.losses, strategy), cells);
    text.add_row(std::move(cells));
  }
  std::vector<std::string> counts{"tables"};
  for (std::size_t i = 0; i < budgets; ++i) counts.push_back(std::to_string(summary(simulation.losses, 0, i).tables));
  if (stops) counts.insert(counts.end(), 2, "");
  text.add_row(std::move(counts));
  std::string out = text.text();
  if (!stops) return out;
  const std::string rule = fmt::format(
      "Enough: where a search ends by itself, because its strategy expects the rest of the presets to gain less than a "
      "margin of ties of {:g} %; after so many variants, and what was lost then.",
      100 * simulation.task.margin);
  return out + '\n' + text_lines(rule);
}

std::string problems_text(const Simulation& simulation, std::size_t strategy) {
  const bool stops = any_stops(simulation, strategy);
  TextTable text = table_of(simulation, "problem", stops);
  for (const TableLosses& own : simulation.losses) {
    if (own.strategy != strategy) continue;
    std::vector<std::string> cells{simulation.tables[own.table].title()};
    for (std::size_t i = 0; i < own.losses.size(); ++i) cells.push_back(cell(summary(own, i)));
    if (stops) add_stop(stop_summary(own), cells);
    text.add_row(std::move(cells));
  }
  return text.text();
}

std::string percent_text(double value) { return fmt::format("{:.2f}", 100 * value); }

/// A strategy's estimates of its miss next to the actual misses; empty if it made none.
std::string calibration_text(const Simulation& simulation, std::size_t strategy) {
  TextTable text(
      {{"expected to have missed"}, {"cases", Align::kRight}, {"expected", Align::kRight}, {"missed", Align::kRight}});
  for (const Calibration& step : calibration(simulation.losses, strategy))
    text.add_row({std::isfinite(step.to) ? fmt::format("{:.1f} to {:.1f}", 100 * step.from, 100 * step.to)
                                         : fmt::format("more than {:.1f}", 100 * step.from),
                  std::to_string(step.cases), percent_text(step.expected), percent_text(step.missed)});
  if (text.empty()) return {};
  return fmt::format("\nWhat {} expected to have missed and what it had, means in %\n{}",
                     simulation.task.strategies[strategy], text.text());
}

/// The minimum and maximum of `member` over the lessons that are not empty.
std::pair<std::size_t, std::size_t> range_of(const Simulation& simulation, std::size_t Lesson::*member) {
  std::pair<std::size_t, std::size_t> out{0, 0};
  for (const Lesson& lesson : simulation.lessons) {
    if (lesson.tables == 0) continue;
    out.first = out.second == 0 ? lesson.*member : std::min(out.first, lesson.*member);
    out.second = std::max(out.second, lesson.*member);
  }
  return out;
}

std::size_t untaught(const Simulation& simulation) {
  return static_cast<std::size_t>(std::count_if(simulation.lessons.begin(), simulation.lessons.end(),
                                                [](const Lesson& lesson) { return lesson.tables == 0; }));
}

/// "3 tables", "1 to 3 tables"
std::string counted_range(std::pair<std::size_t, std::size_t> range, const char* what) {
  const std::string least = range.first == range.second ? "" : fmt::format("{} to ", range.first);
  return least + counted(range.second, what);
}

/// Describes the model's training data under --leave-out; empty without it.
std::string lessons_text(const Simulation& simulation) {
  if (simulation.left_out.empty()) return {};
  std::string text = fmt::format("model was taught by {} of {}, none of the same {}",
                                 counted_range(range_of(simulation, &Lesson::tables), "table"),
                                 counted_range(range_of(simulation, &Lesson::devices), "device"), simulation.left_out);
  if (const std::size_t none = untaught(simulation); none > 0)
    text += fmt::format("; on {} of the {} tables by nothing", none, simulation.lessons.size());
  return "\n" + text_lines(text + '.');
}

json lessons_json(const Simulation& simulation) {
  if (simulation.left_out.empty()) return nullptr;
  return {{"tables", range_of(simulation, &Lesson::tables)},
          {"devices", range_of(simulation, &Lesson::devices)},
          {"untaught", untaught(simulation)}};
}

void add_loss(const LossSummary& summary, json& out) {
  const auto known = [&](double loss) { return summary.tables > 0 ? json(loss) : json(nullptr); };
  out["tables"] = summary.tables;
  out["median"] = known(summary.median);
  out["p90"] = known(summary.p90);
  out["mean"] = known(summary.mean);
  out["worst"] = known(summary.worst);
}

void add_table(const RecordedTable& table, json& out) {
  out["problem"] = table.name.empty() ? json(table.problem) : json(nullptr);
  if (!table.name.empty()) out["table"] = table.name;
  out["device"] = table.device.name;
  out["templates"] = table.templates;
  out["rows"] = table.table.variants.size();
}

json stop_json(const Simulation& simulation, std::size_t strategy, const StopSummary& stop) {
  json out{{"strategy", simulation.task.strategies[strategy]},
           {"tried_median", stop.tried_median},
           {"tried_p90", stop.tried_p90}};
  add_loss(stop.lost, out);
  return out;
}

json summary_json(const Simulation& simulation, std::size_t strategy, std::size_t budget, const LossSummary& summary) {
  json out{{"strategy", simulation.task.strategies[strategy]}, {"budget", simulation.task.budgets[budget]}};
  add_loss(summary, out);
  return out;
}

std::vector<std::string> csv_cells(const Simulation& simulation, std::size_t strategy, const std::string& budget,
                                   const StopSummary& stop, const RecordedTable* table) {
  const LossSummary& summary = stop.lost;
  const auto known = [&](double loss) { return summary.tables > 0 ? csv_number(loss) : std::string(); };
  return {simulation.task.strategies[strategy],
          budget,
          table == nullptr      ? ""
          : table->name.empty() ? table->problem.key()
                                : table->name,
          table != nullptr ? table->device.name : "",
          table != nullptr ? std::to_string(table->table.variants.size()) : "",
          std::to_string(summary.tables),
          known(summary.median),
          known(summary.p90),
          known(summary.mean),
          known(summary.worst),
          csv_number(stop.tried_median),
          csv_number(stop.tried_p90)};
}

/// A row of a budget that was tried completely.
StopSummary at_budget(const Simulation& simulation, std::size_t budget, const LossSummary& summary) {
  const auto tried = static_cast<double>(simulation.task.budgets[budget]);
  return {tried, tried, summary};
}

}  // namespace

std::string simulation_text(const Simulation& simulation, bool per_problem) {
  std::set<std::string> devices;
  std::size_t rows = 0;
  for (const RecordedTable& table : simulation.tables) {
    devices.insert(table.device.name);
    rows += table.table.variants.size();
  }
  const std::string what = fmt::format(
      "Loss against the table's best after so many variants, in %: median/90th percentile. {} tables with {} variants, "
      "{}; {} runs each. A budget counts for tables with at least twice as many variants.",
      simulation.tables.size(), rows, fmt::join(devices, ", "), simulation.task.repeats);
  std::string out = text_lines(what) + '\n';
  out += overall_text(simulation);
  if (!simulation.learnt_from.empty()) out += '\n' + simulation.learnt_from + '\n';
  out += lessons_text(simulation);
  for (std::size_t strategy = 0; strategy < simulation.task.strategies.size(); ++strategy)
    out += calibration_text(simulation, strategy);
  if (per_problem) {
    for (std::size_t strategy = 0; strategy < simulation.task.strategies.size(); ++strategy)
      out += fmt::format("\n{}\n{}", simulation.task.strategies[strategy], problems_text(simulation, strategy));
  }
  if (const char* const text = caution(simulation)) {
    out += '\n' + text_lines(text);
  }
  return out;
}

json simulation_json(const Simulation& simulation) {
  json all = json::array(), problems = json::array(), enough = json::array(), enough_of_problems = json::array();
  for (std::size_t strategy = 0; strategy < simulation.task.strategies.size(); ++strategy) {
    if (any_stops(simulation, strategy))
      enough.push_back(stop_json(simulation, strategy, stop_summary(simulation.losses, strategy)));
    for (std::size_t i = 0; i < simulation.task.budgets.size(); ++i)
      all.push_back(summary_json(simulation, strategy, i, summary(simulation.losses, strategy, i)));
  }
  for (const TableLosses& own : simulation.losses) {
    const RecordedTable& table = simulation.tables[own.table];
    for (std::size_t i = 0; i < own.losses.size(); ++i) {
      if (own.losses[i].empty()) continue;
      json row = summary_json(simulation, own.strategy, i, summary(own, i));
      add_table(table, row);
      problems.push_back(std::move(row));
    }
    if (own.stops.empty()) continue;
    json row = stop_json(simulation, own.strategy, stop_summary(own));
    add_table(table, row);
    enough_of_problems.push_back(std::move(row));
  }
  json calibrations = json::array();
  for (std::size_t strategy = 0; strategy < simulation.task.strategies.size(); ++strategy) {
    for (const Calibration& step : calibration(simulation.losses, strategy))
      calibrations.push_back({{"strategy", simulation.task.strategies[strategy]},
                              {"from", step.from},
                              {"to", std::isfinite(step.to) ? json(step.to) : json(nullptr)},
                              {"cases", step.cases},
                              {"expected", step.expected},
                              {"missed", step.missed}});
  }
  return {{"schema", kJsonSchema},
          {"repeats", simulation.task.repeats},
          {"seed", simulation.task.seed},
          {"left_out", simulation.left_out.empty() ? json(nullptr) : json(simulation.left_out)},
          {"taught_by", lessons_json(simulation)},
          {"all", std::move(all)},
          {"problems", std::move(problems)},
          {"margin", simulation.task.margin},
          {"enough", {{"all", std::move(enough)}, {"problems", std::move(enough_of_problems)}}},
          {"calibration", std::move(calibrations)},
          {"bias", caution(simulation) != nullptr ? json(caution(simulation)) : json(nullptr)}};
}

std::string simulation_csv(const Simulation& simulation) {
  CsvWriter csv({"strategy", "budget", "problem", "device", "rows", "tables", "median", "p90", "mean", "worst",
                 "tried_median", "tried_p90"});
  for (std::size_t strategy = 0; strategy < simulation.task.strategies.size(); ++strategy) {
    for (std::size_t i = 0; i < simulation.task.budgets.size(); ++i)
      csv.add_row(csv_cells(simulation, strategy, std::to_string(simulation.task.budgets[i]),
                            at_budget(simulation, i, summary(simulation.losses, strategy, i)), nullptr));
    if (any_stops(simulation, strategy))
      csv.add_row(csv_cells(simulation, strategy, "enough", stop_summary(simulation.losses, strategy), nullptr));
  }
  for (const TableLosses& own : simulation.losses) {
    const RecordedTable* const table = &simulation.tables[own.table];
    for (std::size_t i = 0; i < own.losses.size(); ++i) {
      if (!own.losses[i].empty())
        csv.add_row(csv_cells(simulation, own.strategy, std::to_string(simulation.task.budgets[i]),
                              at_budget(simulation, i, summary(own, i)), table));
    }
    if (!own.stops.empty()) csv.add_row(csv_cells(simulation, own.strategy, "enough", stop_summary(own), table));
  }
  return csv.text();
}

}  // namespace pgtune::tool
