// SPDX-License-Identifier: MIT
#include "tool/pgtune/simulate/simulation_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "tool/pgtune/cli/terminal/csv_writer.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tuner/model/json.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

/// Whoever reads the figures without this takes them for more than they are.
constexpr const char* kBias =
    "A recording holds what its search tried, not the whole space: what costs and seeds passed over is in no table, so "
    "losses come out too small, random's most of all, and whatever chose the rows is favoured. Strategies are compared "
    "fairly only on tables of whole spaces or random samples of them.";
constexpr const char* kSample =
    "A table's variants were drawn at random from all that are legal, so that no strategy is favoured; the best of so "
    "many is not the best of the whole space.";

/// What is to be known of the tables; null of other tools' alone.
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

TextTable table_of(const Simulation& simulation, const char* first) {
  std::vector<TextTable::Column> columns{{first}};
  for (const std::size_t budget : simulation.task.budgets) columns.push_back({std::to_string(budget), Align::kRight});
  return TextTable(std::move(columns));
}

std::string overall_text(const Simulation& simulation) {
  TextTable text = table_of(simulation, "strategy");
  const std::size_t budgets = simulation.task.budgets.size();
  for (std::size_t strategy = 0; strategy < simulation.task.strategies.size(); ++strategy) {
    std::vector<std::string> cells{simulation.task.strategies[strategy]};
    for (std::size_t i = 0; i < budgets; ++i) cells.push_back(cell(summary(simulation.losses, strategy, i)));
    text.add_row(std::move(cells));
  }
  std::vector<std::string> counts{"tables"};
  for (std::size_t i = 0; i < budgets; ++i) counts.push_back(std::to_string(summary(simulation.losses, 0, i).tables));
  text.add_row(std::move(counts));
  return text.text();
}

std::string problems_text(const Simulation& simulation, std::size_t strategy) {
  TextTable text = table_of(simulation, "problem");
  for (const TableLosses& own : simulation.losses) {
    if (own.strategy != strategy) continue;
    std::vector<std::string> cells{simulation.tables[own.table].title()};
    for (std::size_t i = 0; i < own.losses.size(); ++i) cells.push_back(cell(summary(own, i)));
    text.add_row(std::move(cells));
  }
  return text.text();
}

std::string percent(double value) { return fmt::format("{:.2f}", 100 * value); }

/// What a strategy expected to have missed beside what it had; empty where it never said.
std::string calibration_text(const Simulation& simulation, std::size_t strategy) {
  TextTable text(
      {{"expected to have missed"}, {"cases", Align::kRight}, {"expected", Align::kRight}, {"missed", Align::kRight}});
  for (const Calibration& step : calibration(simulation.losses, strategy))
    text.add_row({std::isfinite(step.to) ? fmt::format("{:.1f} to {:.1f}", 100 * step.from, 100 * step.to)
                                         : fmt::format("more than {:.1f}", 100 * step.from),
                  std::to_string(step.cases), percent(step.expected), percent(step.missed)});
  if (text.empty()) return {};
  return fmt::format("\nWhat {} expected to have missed and what it had, means in %\n{}",
                     simulation.task.strategies[strategy], text.text());
}

json summary_json(const Simulation& simulation, std::size_t strategy, std::size_t budget, const LossSummary& summary) {
  return {{"strategy", simulation.task.strategies[strategy]},
          {"budget", simulation.task.budgets[budget]},
          {"tables", summary.tables},
          {"median", summary.median},
          {"p90", summary.p90},
          {"mean", summary.mean},
          {"worst", summary.worst}};
}

std::vector<std::string> csv_cells(const Simulation& simulation, std::size_t strategy, std::size_t budget,
                                   const LossSummary& summary, const RecordedTable* table) {
  return {simulation.task.strategies[strategy],
          std::to_string(simulation.task.budgets[budget]),
          table == nullptr      ? ""
          : table->name.empty() ? table->problem.key()
                                : table->name,
          table != nullptr ? table->device.name : "",
          table != nullptr ? std::to_string(table->table.variants.size()) : "",
          std::to_string(summary.tables),
          csv_number(summary.median),
          csv_number(summary.p90),
          csv_number(summary.mean),
          csv_number(summary.worst)};
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
  std::string out = fmt::format("{}\n\n", fmt::join(wrap_text(what, kTextWidth), "\n"));
  out += overall_text(simulation);
  if (!simulation.learnt_from.empty()) out += '\n' + simulation.learnt_from + '\n';
  if (!simulation.left_out.empty())
    out += fmt::format("\nmodel has learnt from the other tables but those of the same {}\n", simulation.left_out);
  for (std::size_t strategy = 0; strategy < simulation.task.strategies.size(); ++strategy)
    out += calibration_text(simulation, strategy);
  if (per_problem) {
    for (std::size_t strategy = 0; strategy < simulation.task.strategies.size(); ++strategy)
      out += fmt::format("\n{}\n{}", simulation.task.strategies[strategy], problems_text(simulation, strategy));
  }
  if (const char* const text = caution(simulation)) {
    out += '\n';
    for (const std::string& line : wrap_text(text, kTextWidth)) out += line + '\n';
  }
  return out;
}

json simulation_json(const Simulation& simulation) {
  json all = json::array(), problems = json::array();
  for (std::size_t strategy = 0; strategy < simulation.task.strategies.size(); ++strategy) {
    for (std::size_t i = 0; i < simulation.task.budgets.size(); ++i)
      all.push_back(summary_json(simulation, strategy, i, summary(simulation.losses, strategy, i)));
  }
  for (const TableLosses& own : simulation.losses) {
    const RecordedTable& table = simulation.tables[own.table];
    for (std::size_t i = 0; i < own.losses.size(); ++i) {
      if (own.losses[i].empty()) continue;
      json row = summary_json(simulation, own.strategy, i, summary(own, i));
      row["problem"] = table.name.empty() ? json(table.problem) : json(nullptr);
      if (!table.name.empty()) row["table"] = table.name;
      row["device"] = table.device.name;
      row["templates"] = table.templates;
      row["rows"] = table.table.variants.size();
      problems.push_back(std::move(row));
    }
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
          {"all", std::move(all)},
          {"problems", std::move(problems)},
          {"calibration", std::move(calibrations)},
          {"bias", caution(simulation) != nullptr ? json(caution(simulation)) : json(nullptr)}};
}

std::string simulation_csv(const Simulation& simulation) {
  CsvWriter csv({"strategy", "budget", "problem", "device", "rows", "tables", "median", "p90", "mean", "worst"});
  for (std::size_t strategy = 0; strategy < simulation.task.strategies.size(); ++strategy) {
    for (std::size_t i = 0; i < simulation.task.budgets.size(); ++i)
      csv.add_row(csv_cells(simulation, strategy, i, summary(simulation.losses, strategy, i), nullptr));
  }
  for (const TableLosses& own : simulation.losses) {
    for (std::size_t i = 0; i < own.losses.size(); ++i) {
      if (!own.losses[i].empty())
        csv.add_row(csv_cells(simulation, own.strategy, i, summary(own, i), &simulation.tables[own.table]));
    }
  }
  return csv.text();
}

}  // namespace pgtune::tool
