// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/board_groups.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "tool/pgtune/report/answer_text.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::tool {
namespace {

/// What has to agree for results to be compared.
auto group_key(const StoredResult& result) {
  return std::make_tuple(result.row.device_class, result.row.conditions_key, result.row.recorded);
}

bool is_search(const StoredResult& result) { return result.row.kind == "search"; }

/// Searches before benches, newer ones before older ones.
bool comes_first(const StoredResult& a, const StoredResult& b) {
  return std::make_pair(is_search(a), a.row.session) > std::make_pair(is_search(b), b.row.session);
}

/// Of one board's results of a problem the newest that has the winner's variant, else the newest search's own best.
std::optional<BoardCell> cell_of(const std::vector<const StoredResult*>& results, const std::string& board,
                                 const StoredResult& winner) {
  const Variant& variant = winner.answer.best().variant;
  std::optional<BoardCell> cell;
  for (const StoredResult* result : results) {
    if (result->device.uuid != board) continue;
    const auto& ranking = result->answer.ranking;
    auto same = std::find_if(ranking.begin(), ranking.end(), [&](const auto& row) { return row.variant == variant; });
    // Of another version of the template it is another kernel.
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

}  // namespace pgtune::tool
