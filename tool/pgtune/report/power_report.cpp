// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/power_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "db/queries/records.hpp"
#include "db/queries/stored_records.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/report/answer_text.hpp"
#include "tool/pgtune/report/energy_view.hpp"
#include "tool/pgtune/report/result_columns.hpp"
#include "tuner/session/answer_json.hpp"
#include "tuner/util/utf8.hpp"

namespace pgtune::tool {
namespace {

/// The two sides of a result; nothing if either was not measured.
struct Energies {
  session::EnergySummary winner, baseline;
};

std::optional<Energies> energies(const StoredResult& result) {
  const session::Answer& answer = result.answer;
  if (!answer.baseline_energy || !answer.best().energy) return std::nullopt;
  return Energies{*answer.best().energy, *answer.baseline_energy};
}

/// The joules of settled samples as a sentence, used if no windows were measured; nothing if they have none.
std::string settled_joules_text(const StoredResult& result) {
  const session::Answer& answer = result.answer;
  if (energies(result) || !answer.best().settled_energy || !answer.baseline_settled_energy) return {};
  return settled_energy_text(*answer.best().settled_energy, *answer.baseline_settled_energy, baseline_name(answer));
}

/// The energy of settled samples as if of no window.
session::EnergySummary of_windows(const session::SettledEnergy& settled) {
  return {.energy_j = settled.energy_j,
          .low_j = settled.low_j,
          .high_j = settled.high_j,
          .power_w = settled.power_w,
          .time_s = settled.time_s};
}

std::string measure_command(const StoredResult& result, const std::string& database_option) {
  return fmt::format("pgtune bench {}{}{} --power", problem_options(result), condition_options(result),
                     database_option);
}

/// Speed and energy of the winner against cuBLASLt's best: both drew on the same power budget, turn by turn.
std::string verdict(const StoredResult& result, const Energies& energy) {
  const session::Answer& answer = result.answer;
  return fmt::format("at the same power budget {}; {}",
                     verdict_text(answer.best(), answer.floor.margin, answer.from_final, baseline_name(answer)),
                     energy_verdict(energy.winner, energy.baseline, baseline_name(answer)));
}

void print_indented(Terminal& terminal, const std::string& text) {
  constexpr std::size_t kIndent = 4;
  for (const std::string& line : wrap_text(text, text_width(terminal) - kIndent))
    terminal.print(fmt::format("{:{}}{}\n", "", kIndent, line));
}

/// Lines of the table of a group with the words under each pair of them.
void print_group(Terminal& terminal, const ResultGroup& group) {
  std::vector<std::pair<const StoredResult*, Energies>> measured;
  std::set<std::string_view> units;
  for (const StoredResult* result : group.results) {
    const auto energy = energies(*result);
    if (!energy) continue;
    measured.emplace_back(result, *energy);
    units.insert(result->problem.speed_unit());
  }
  if (measured.empty()) return;
  const bool one_unit = units.size() == 1;
  std::vector<TextTable::Column> columns = energy_columns(one_unit ? *units.begin() : "speed");
  columns.insert(columns.begin(), {"contender"});
  TextTable table(std::move(columns));
  const auto add = [&](std::string name, const session::EnergySummary& energy, const Problem& problem) {
    std::vector<std::string> cells = energy_cells(energy, problem);
    cells.insert(cells.begin(), std::move(name));
    table.add_row(std::move(cells));
  };
  for (const auto& [result, energy] : measured) {
    add("  winner", energy.winner, result->problem);
    add(fmt::format("  {} best", baseline_name(result->answer)), energy.baseline, result->problem);
  }
  std::vector<std::string> lines;
  const std::string text = table.text();
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(text.substr(begin, end + 1 - begin));
  print_headline(terminal, group);
  terminal.print(lines[0]);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const StoredResult& result = *measured[i].first;
    terminal.print(fmt::format("{} with {}{}\n", marked_title(result), result.answer.best().variant.template_name,
                               one_unit ? "" : fmt::format(", {}", result.problem.speed_unit())));
    terminal.print(lines[2 * i + 1] + lines[2 * i + 2]);
    print_indented(terminal, verdict(result, measured[i].second));
    if (result.answer.idle_power_w)
      print_indented(terminal,
                     fmt::format("idle power {:.0f} W, part of the watts above", *result.answer.idle_power_w));
  }
  terminal.print("\n");
}

/// Takes the energy that `other` has of the same winner; false where it has none.
bool take_energy(StoredResult& result, const session::Answer& other) {
  if (!other.baseline_energy) return false;
  for (const session::RankedVariant& row : other.ranking) {
    if (!(row.variant == result.answer.best().variant) || !row.energy) continue;
    result.answer.ranking.front().energy = row.energy;
    result.answer.baseline_energy = other.baseline_energy;
    result.answer.idle_power_w = other.idle_power_w;
    return true;
  }
  return false;
}

}  // namespace

void take_energy_of_others(const db::Database& database, std::vector<StoredResult>& results) {
  for (StoredResult& result : results) {
    if (energies(result)) continue;
    for (const db::BestRow& row : db::list_answers(database, db::key_of(result.row))) {
      if (row.session == result.row.session) continue;
      const std::string subject = fmt::format("{}: the answer of session {} for '{}'", database.origin(), row.session,
                                              excerpt(row.problem_key));
      if (take_energy(result, db::record_of<session::Answer>(row.answer_json, subject))) break;
    }
  }
}

void print_power_report(Terminal& terminal, const std::vector<StoredResult>& results,
                        const std::string& database_option) {
  if (results.empty()) return;
  const bool any = std::any_of(results.begin(), results.end(), [](const auto& r) { return energies(r).has_value(); });
  for (const ResultGroup& group : grouped(results)) print_group(terminal, group);
  if (any) {
    print_wrapped(terminal,
                  "Medians over windows of steady load; range: over the windows; at cap: share of time at the power "
                  "cap. The verdict's speed is that of the final, where both took turns in the same power budget.");
    print_wrapped(terminal, "The sensor reads the whole board: good for ranking on this GPU, not absolute.");
  }
  std::string missing;  // the command for the first of those that have none
  std::size_t without = 0;
  bool headed = false;
  for (const StoredResult& result : results) {
    const std::string settled = settled_joules_text(result);
    if (!settled.empty()) {
      if (!headed)
        terminal.print(fmt::format("{}By settled samples alone, without windows of steady load:\n", any ? "\n" : ""));
      headed = true;
      terminal.print(fmt::format("  {}\n", marked_title(result)));
      print_indented(terminal, settled);
    } else if (!energies(result) && ++without == 1) {
      missing = measure_command(result, database_option);
    }
  }
  if (without > 0)
    terminal.print(
        fmt::format("{}No energy of {} of {} problems was measured. A bench does, of the first:\n"
                    "{}\n",
                    any || headed ? "\n" : "", without, results.size(), missing));
  print_baseline_legend(terminal, results);
  print_marks_legend(terminal, results);
}

nlohmann::json power_report_json(const std::vector<StoredResult>& results) {
  nlohmann::json out = nlohmann::json::array();
  for (const StoredResult& result : results) {
    const session::Answer& answer = result.answer;
    const auto energy = energies(result);
    out.push_back(result_identity(result));
    nlohmann::json& line = out.back();
    line["winner"] = energy ? energy_json(energy->winner, result.problem) : nlohmann::json(nullptr);
    line["baseline_best"] = energy ? energy_json(energy->baseline, result.problem) : nlohmann::json(nullptr);
    line["winner_settled"] = settled_energy_json(answer.best().settled_energy);
    line["baseline_settled"] = settled_energy_json(answer.baseline_settled_energy);
    line["idle_power_w"] = or_null(answer.idle_power_w);
    line["verdict"] = verdict_word(answer.best(), answer.from_final);
    line["ratio_interval"] =
        answer.from_final ? nlohmann::json{answer.best().ratio_low, answer.best().ratio_high} : nlohmann::json(nullptr);
    if (energy) {
      line["summary"] = verdict(result, *energy);
    } else {
      line["measure"] = measure_command(result, {});
    }
  }
  return out;
}

std::string power_report_csv(const std::vector<StoredResult>& results) {
  std::vector<std::string> columns = result_columns();
  columns.insert(columns.end(), {"contender", "time_s", "speed_flop_per_s", "power_w", "energy_per_gemm_j",
                                 "energy_low_j", "energy_high_j", "efficiency_flop_per_j", "sm_clock_hz",
                                 "power_cap_share", "windows", "uncertainty", "suspect", "idle_power_w", "verdict"});
  CsvWriter csv(columns);
  for (const StoredResult& result : results) {
    const auto add = [&](const char* contender, const session::EnergySummary& side) {
      std::vector<std::string> cells = result_cells(result);
      const double flops = result.problem.flops();
      cells.insert(
          cells.end(),
          {contender, csv_number(side.time_s), csv_number(flops / side.time_s), csv_number(side.power_w),
           csv_number(side.energy_j), csv_number(side.low_j), csv_number(side.high_j),
           csv_number(flops / side.energy_j), side.sm_clock_hz > 0 ? csv_number(side.sm_clock_hz) : std::string(),
           csv_number(side.power_cap_share), std::to_string(side.windows), csv_number(side.uncertainty),
           side.suspect ? "true" : "false", csv_number(result.answer.idle_power_w),
           std::string(verdict_word(result.answer.best(), result.answer.from_final))});
      csv.add_row(cells);
    };
    if (const auto energy = energies(result)) {
      add("winner", energy->winner);
      add("cublaslt_best", energy->baseline);
    } else if (const auto& own = result.answer.best().settled_energy, &other = result.answer.baseline_settled_energy;
               own && other) {
      add("winner_settled", of_windows(*own));
      add("cublaslt_best_settled", of_windows(*other));
    }
  }
  return csv.text();
}

}  // namespace pgtune::tool
