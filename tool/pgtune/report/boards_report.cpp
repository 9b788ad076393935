// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/boards_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/report/answer_text.hpp"
#include "tool/pgtune/report/result_columns.hpp"
#include "tool/pgtune/report/result_json.hpp"
#include "tuner/model/json.hpp"
#include "tuner/stats/descriptive.hpp"
#include "tuner/util/count_text.hpp"

namespace pgtune::tool {
namespace {

/// Properties that must agree for results to be compared.
auto group_key(const StoredResult& result) {
  return std::make_tuple(result.row.device_class, result.row.conditions_key, result.row.recorded);
}

bool is_search(const StoredResult& result) { return result.row.kind == "search"; }

/// Searches before benches, newer ones before older ones.
bool comes_first(const StoredResult& a, const StoredResult& b) {
  return std::make_pair(is_search(a), a.row.session) > std::make_pair(is_search(b), b.row.session);
}

/// One board's newest result of a problem with the winner's variant, else the newest search's own best.
std::optional<BoardCell> cell_of(const std::vector<const StoredResult*>& results, const std::string& board,
                                 const StoredResult& winner) {
  const Variant& variant = winner.answer.best().variant;
  std::optional<BoardCell> cell;
  for (const StoredResult* result : results) {
    if (result->device.uuid != board) continue;
    const auto& ranking = result->answer.ranking;
    auto same = std::find_if(ranking.begin(), ranking.end(), [&](const auto& row) { return row.variant == variant; });
    // Another version of the template means another kernel.
    if (result->row.variant_origin != winner.row.variant_origin) same = ranking.end();
    const BoardCell candidate{result, same != ranking.end() ? &*same : &ranking.front(), same != ranking.end()};
    const bool newer = cell && candidate.same_variant == cell->same_variant &&
                       (candidate.same_variant ? result->row.session > cell->result->row.session
                                               : comes_first(*result, *cell->result));
    if (!cell || newer || (candidate.same_variant && !cell->same_variant)) cell = candidate;
  }
  return cell;
}

/// Those with more problems first, of equals by name.
std::vector<std::string> boards_of(const std::vector<const StoredResult*>& results) {
  std::map<std::string, std::map<std::string, int>> problems;
  for (const StoredResult* result : results) ++problems[result->device.uuid][result->row.problem_key];
  std::vector<std::string> boards;
  for (const auto& [uuid, of_board] : problems) boards.push_back(uuid);
  std::stable_sort(boards.begin(), boards.end(), [&](const std::string& a, const std::string& b) {
    return problems.at(a).size() > problems.at(b).size();
  });
  return boards;
}

std::optional<BoardDifference> difference_of(const BoardGroup& group, std::size_t board) {
  std::vector<double> times, baselines;
  for (const BoardRow& row : group.rows) {
    const auto &first = row.cells.front(), &other = row.cells[board];
    if (!first || !other || !first->same_variant || !other->same_variant) continue;
    times.push_back(other->shown->time_s / first->shown->time_s);
    const double first_s = first->result->answer.baseline_best_s, other_s = other->result->answer.baseline_best_s;
    if (first_s > 0 && other_s > 0) baselines.push_back(other_s / first_s);
  }
  if (times.empty()) return std::nullopt;
  const auto [low, high] = std::minmax_element(times.begin(), times.end());
  return BoardDifference{board, times.size(), stats::median(times),
                         *low,  *high,        baselines.empty() ? 0 : stats::median(baselines)};
}

BoardGroup group_of(const std::vector<const StoredResult*>& results) {
  const StoredResult& any = *results.front();
  BoardGroup group{any.row.device_class, conditions_text(any.conditions), boards_of(results), {}, {}};
  std::vector<std::string> order;
  std::map<std::string, std::vector<const StoredResult*>> by_problem;
  for (const StoredResult* result : results) {
    if (!by_problem.contains(result->row.problem_key)) order.push_back(result->row.problem_key);
    by_problem[result->row.problem_key].push_back(result);
  }
  for (const std::string& key : order) {
    const auto& of_problem = by_problem.at(key);
    BoardRow row;
    row.winner = *std::min_element(of_problem.begin(), of_problem.end(),
                                   [](const auto* a, const auto* b) { return comes_first(*a, *b); });
    for (const std::string& board : group.boards) row.cells.push_back(cell_of(of_problem, board, *row.winner));
    group.rows.push_back(std::move(row));
  }
  for (std::size_t board = 1; board < group.boards.size(); ++board) {
    if (auto difference = difference_of(group, board)) group.differences.push_back(*difference);
  }
  return group;
}

}  // namespace

std::vector<BoardGroup> board_groups(const std::vector<StoredResult>& results) {
  std::map<decltype(group_key(results.front())), std::vector<const StoredResult*>> groups;
  for (const StoredResult& result : results) groups[group_key(result)].push_back(&result);
  std::vector<BoardGroup> out;
  for (const auto& [key, of_group] : groups) out.push_back(group_of(of_group));
  return out;
}

namespace {

using nlohmann::json;

/// "A", "B", ..., then "27".
std::string letter(std::size_t board) {
  constexpr std::size_t kLetters = 26;
  return board < kLetters ? std::string(1, static_cast<char>('A' + board)) : std::to_string(board + 1);
}

/// "1.8 % more" of a ratio of times.
std::string more_text(double ratio) {
  const double percent = 100 * (ratio - 1);
  return fmt::format("{:.1f} % {}", percent < 0 ? -percent : percent, percent < 0 ? "less" : "more");
}

/// Whether a row compares boards: another one measured the problem too.
bool is_compared(const BoardRow& row) {
  return std::count_if(row.cells.begin(), row.cells.end(), [](const auto& cell) { return cell.has_value(); }) > 1;
}

/// A line for each board that measured it.
void add_rows(TextTable& table, const BoardRow& row) {
  const BoardCell* first = nullptr;
  for (std::size_t board = 0; board < row.cells.size(); ++board) {
    const auto& cell = row.cells[board];
    if (!cell) continue;
    const session::RankedVariant& shown = *cell->shown;
    const bool comparable = first != nullptr && first->same_variant && cell->same_variant;
    table.add_row({first == nullptr ? row_title(*row.winner) : "", letter(board),
                   milliseconds_text(shown.time_s) + (cell->same_variant ? "" : "~"),
                   comparable ? fmt::format("{:+.1f} %", 100 * (shown.time_s / first->shown->time_s - 1)) : "",
                   shown.ratio_to_baseline > 0 ? fmt::format("{:.3f}", shown.ratio_to_baseline) : "",
                   shown.sm_clock_hz > 0 ? fmt::format("{:.0f}", shown.sm_clock_hz / 1e6) : ""});
    if (first == nullptr) first = &*cell;
  }
}

void print_table(Terminal& terminal, const BoardGroup& group) {
  TextTable table({{"problem", Align::kLeft, Wrap::kWords},
                   {"board"},
                   {"ms", Align::kRight},
                   {"longer", Align::kRight},
                   {"x best", Align::kRight, Wrap::kNone, 2},
                   {"MHz", Align::kRight, Wrap::kNone, 1}});
  std::map<const StoredResult*, const BoardRow*> row_of;
  std::vector<const StoredResult*> compared;
  for (const BoardRow& row : group.rows) {
    row_of[row.winner] = &row;
    if (is_compared(row)) compared.push_back(row.winner);
  }
  for (const TableSection& section : table_sections(compared)) {
    table.add_section(section.title);
    for (const StoredResult* winner : section.results) add_rows(table, *row_of.at(winner));
  }
  if (!table.empty()) terminal.print(table.text(terminal));
}

/// How many problems only one board measured, and the command that compares the first of them.
void print_missing(Terminal& terminal, const BoardGroup& group, const std::string& database_option) {
  const auto is_alone = [](const BoardRow& row) { return !is_compared(row); };
  const auto first = std::find_if(group.rows.begin(), group.rows.end(), is_alone);
  if (first == group.rows.end()) return;
  print_wrapped(terminal, fmt::format("{} of {} problems {} measured by one board only. On another board of the class, "
                                      "with this database, a bench compares the first:",
                                      std::count_if(first, group.rows.end(), is_alone), group.rows.size(),
                                      group.rows.size() == 1 ? "was" : "were"));
  terminal.print(fmt::format("pgtune bench {}{}{}\n", problem_options(*first->winner),
                             condition_options(*first->winner), database_option));
}

void print_group(Terminal& terminal, const BoardGroup& group, const std::string& database_option) {
  print_wrapped(terminal, group.device_class + "; " + group.conditions, Style::kBold);
  for (std::size_t board = 0; board < group.boards.size(); ++board)
    terminal.print(fmt::format("{:<2} {}\n", letter(board), group.boards[board]));
  print_table(terminal, group);
  for (const BoardDifference& difference : group.differences) {
    const std::string baseline = difference.baseline_median > 0 ? fmt::format("; the baseline's best takes {}",
                                                                              more_text(difference.baseline_median))
                                                                : std::string();
    print_wrapped(terminal, fmt::format("{} takes {} time than A (median of {}; {} to {}){}", letter(difference.board),
                                        more_text(difference.median), counted(difference.problems, "problem"),
                                        more_text(difference.low), more_text(difference.high), baseline));
  }
  print_missing(terminal, group, database_option);
  terminal.print("\n");
}

json cell_json(const BoardCell& cell) {
  const session::RankedVariant& shown = *cell.shown;
  const bool compared = shown.ratio_to_baseline > 0;
  const double baseline_s = cell.result->answer.baseline_best_s;
  return {{"uuid", cell.result->device.uuid},
          {"driver", cell.result->device.driver_version},
          {"kind", cell.result->row.kind},
          {"finished_at", cell.result->row.finished_at},
          {"variant", shown.variant.key()},
          {"same_variant", cell.same_variant},
          {"sampling", to_string(cell.result->answer.sampling)},
          {"time_s", shown.time_s},
          {"baseline_best_s", baseline_s > 0 ? json(baseline_s) : json(nullptr)},
          {"ratio_to_baseline", compared ? json(shown.ratio_to_baseline) : json(nullptr)},
          {"ratio_interval", compared ? json{shown.ratio_low, shown.ratio_high} : json(nullptr)},
          {"sm_clock_hz", shown.sm_clock_hz > 0 ? json(shown.sm_clock_hz) : json(nullptr)}};
}

}  // namespace

void print_boards_report(Terminal& terminal, const std::vector<StoredResult>& results,
                         const std::string& database_option) {
  if (results.empty()) return;
  const std::vector<BoardGroup> groups = board_groups(results);
  bool compared = false, others = false;
  for (const BoardGroup& group : groups) {
    print_group(terminal, group, database_option);
    for (const BoardRow& row : group.rows) {
      if (!is_compared(row)) continue;
      compared = true;
      others = others || std::any_of(row.cells.begin(), row.cells.end(),
                                     [](const auto& cell) { return cell && !cell->same_variant; });
    }
  }
  if (compared)
    print_wrapped(terminal,
                  "Times are of the variant that the newest search found best, from searches and benches; longer: than "
                  "on the first board; x best: speed against the baseline's best on the same board (cuBLASLt's "
                  "algorithm, of other operations a copy).");
  if (others) print_wrapped(terminal, "~ the board's own best: it has not timed that variant");
  print_marks_legend(terminal, results);
}

json boards_report_json(const std::vector<StoredResult>& results) {
  json rows = json::array(), differences = json::array();
  for (const BoardGroup& group : board_groups(results)) {
    for (const BoardRow& row : group.rows) {
      json boards = json::array();
      for (const auto& cell : row.cells) {
        if (cell) boards.push_back(cell_json(*cell));
      }
      rows.push_back({{"problem", row.winner->problem},
                      {"device_class", group.device_class},
                      {"source", source_word(*row.winner)},
                      {"conditions", conditions_json(row.winner->conditions)},
                      {"template", row.winner->answer.best().variant.template_name},
                      {"variant", row.winner->answer.best().variant.key()},
                      {"boards", std::move(boards)}});
    }
    for (const BoardDifference& difference : group.differences)
      differences.push_back(
          {{"device_class", group.device_class},
           {"board", group.boards[difference.board]},
           {"to", group.boards.front()},
           {"problems", difference.problems},
           {"time_ratio", difference.median},
           {"time_ratio_range", {difference.low, difference.high}},
           {"baseline_time_ratio", difference.baseline_median > 0 ? json(difference.baseline_median) : json(nullptr)}});
  }
  return {{"schema", kJsonSchema}, {"results", std::move(rows)}, {"differences", std::move(differences)}};
}

std::string boards_report_csv(const std::vector<StoredResult>& results) {
  const std::vector<BoardGroup> groups = board_groups(results);
  std::vector<std::string> boards;
  for (const BoardGroup& group : groups) {
    for (const std::string& board : group.boards) {
      if (std::find(boards.begin(), boards.end(), board) == boards.end()) boards.push_back(board);
    }
  }
  std::vector<std::string> columns{"problem", "device_class", "source", "conditions", "template", "variant"};
  for (const std::string& board : boards) {
    for (const char* what : {"time_s", "ratio_to_baseline", "sm_clock_hz", "same_variant"})
      columns.push_back(fmt::format("{} {}", board, what));
  }
  CsvWriter csv(columns);
  for (const BoardGroup& group : groups) {
    for (const BoardRow& row : group.rows) {
      const Variant& variant = row.winner->answer.best().variant;
      std::vector<std::string> cells{
          row.winner->problem.title(),    group.device_class,    std::string(source_word(*row.winner)),
          row.winner->row.conditions_key, variant.template_name, variant.key()};
      for (const std::string& board : boards) {
        const auto place = std::find(group.boards.begin(), group.boards.end(), board);
        const auto* const cell =
            place != group.boards.end() ? &row.cells[static_cast<std::size_t>(place - group.boards.begin())] : nullptr;
        if (cell == nullptr || !*cell) {
          cells.insert(cells.end(), {"", "", "", ""});
          continue;
        }
        const session::RankedVariant& shown = *(*cell)->shown;
        cells.push_back(csv_number(shown.time_s));
        cells.push_back(shown.ratio_to_baseline > 0 ? csv_number(shown.ratio_to_baseline) : "");
        cells.push_back(shown.sm_clock_hz > 0 ? csv_number(shown.sm_clock_hz) : "");
        cells.push_back((*cell)->same_variant ? "1" : "0");
      }
      csv.add_row(cells);
    }
  }
  return csv.text();
}

}  // namespace pgtune::tool
