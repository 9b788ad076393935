// SPDX-License-Identifier: MIT
#include "tool/pgtune/page/page_data.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "db/queries/queries.hpp"
#include "db/sqlite/timestamp.hpp"
#include "tool/pgtune/cli/build_facts.hpp"
#include "tool/pgtune/cli/version.hpp"
#include "tool/pgtune/report/boards_report.hpp"
#include "tool/pgtune/report/result_columns.hpp"
#include "tool/pgtune/report/roofline_report.hpp"
#include "tool/pgtune/report/speed_report.hpp"

namespace pgtune::tool {

nlohmann::json compact(double value, int digits) {
  if (!std::isfinite(value)) return nullptr;
  // By way of text: JSON writes the shortest digits that give the number back, and those are these.
  const double rounded = std::strtod(fmt::format("{:.{}e}", value, digits - 1).c_str(), nullptr);
  constexpr double kLargestWhole = 1e15;
  if (rounded == std::floor(rounded) && std::abs(rounded) < kLargestWhole)
    return static_cast<std::int64_t>(rounded);  // without ".0"
  return rounded;
}

nlohmann::json compact_positive(double value, int digits) {
  return value > 0 ? compact(value, digits) : nlohmann::json(nullptr);
}

std::size_t SharedTexts::number_of(const std::string& text) {
  const auto [place, added] = numbers_.try_emplace(text, texts_.size());
  if (added) texts_.push_back(text);
  return place->second;
}

namespace {

using nlohmann::json;

/// The detail for each problem: a page of 500 problems stays below 2 MB; with fewer problems each gets more.
struct DetailLimits {
  std::size_t variants;
  int rounds;
};
DetailLimits detail_limits(std::size_t problems) {
  constexpr std::size_t kVariantsOfAll = 8000, kFewest = 8, kMost = 400;
  constexpr int kRoundsOfAll = 4000, kFewestRounds = 4, kMostRounds = 64;
  const std::size_t count = std::max<std::size_t>(problems, 1);
  return {std::clamp(kVariantsOfAll / count, kFewest, kMost),
          std::clamp(kRoundsOfAll / static_cast<int>(std::min<std::size_t>(count, kRoundsOfAll)), kFewestRounds,
                     kMostRounds)};
}

json kinds_data(const ResultGroup& group) {
  json out = json::array();
  for (const KindSummary& summary : summarise_kinds(group.results)) {
    out.push_back({{"kind", summary.kind},
                   {"baseline", summary.baseline},
                   {"problems", summary.problems},
                   {"percent_of_best", compact(summary.percent_of_best)},
                   {"percent_of_first", compact(summary.percent_of_first)},
                   {"least_percent", compact(summary.least_percent)},
                   {"most_percent", compact(summary.most_percent)},
                   {"verdicts", summary.verdicts}});
  }
  return out;
}

/// Ceilings that several results share are written once.
std::size_t ceilings_number(const Ceilings& ceilings, json& all) {
  json flops = json::object();
  for (const auto& [dtype, value] : ceilings.flops) flops[dtype] = compact(value);
  const json data = {{"dram", compact_positive(ceilings.dram_bytes_per_s)},
                     {"l2", compact_positive(ceilings.l2_bytes_per_s)},
                     {"smem", compact_positive(ceilings.smem_bytes_per_s.value_or(0))},
                     {"flops", std::move(flops)}};
  const auto place = std::find(all.begin(), all.end(), data);
  const auto number = static_cast<std::size_t>(place - all.begin());
  if (place == all.end()) all.push_back(data);
  return number;
}

json boards_data(const std::vector<StoredResult>& results) {
  json out = json::array();
  for (const BoardGroup& group : board_groups(results)) {
    if (group.boards.size() < 2) continue;
    json rows = json::array(), differences = json::array();
    for (const BoardRow& row : group.rows) {
      if (std::count_if(row.cells.begin(), row.cells.end(), [](const auto& cell) { return cell.has_value(); }) < 2)
        continue;
      json cells = json::array();
      for (const auto& cell : row.cells) {
        cells.push_back(cell
                            ? json{compact(cell->shown->time_s * 1e6), compact_positive(cell->shown->ratio_to_baseline),
                                   compact_positive(cell->shown->sm_clock_hz / 1e6, 4), cell->same_variant ? 1 : 0}
                            : json(nullptr));
      }
      rows.push_back({{"title", row.winner->problem.title()},
                      {"flop", compact(row.winner->problem.flops())},
                      {"cells", std::move(cells)}});
    }
    for (const BoardDifference& difference : group.differences)
      differences.push_back({{"board", difference.board},
                             {"problems", difference.problems},
                             {"median", compact(difference.median)},
                             {"low", compact(difference.low)},
                             {"high", compact(difference.high)}});
    out.push_back({{"device_class", group.device_class},
                   {"conditions", group.conditions},
                   {"boards", group.boards},
                   {"rows", std::move(rows)},
                   {"differences", std::move(differences)}});
  }
  return out;
}

/// Times in us; kernels of intervals are indices. A family's operations are "flop" times M.
json families_data(const std::vector<db::FamilyRow>& families) {
  json out = json::array();
  for (const db::FamilyRow& row : families) {
    const Family& family = row.family;
    json kernels = json::array(), intervals = json::array(), probes = json::array();
    for (const FamilyKernel& kernel : family.kernels)
      kernels.push_back(kernel.variant.template_name + ' ' + kernel.variant.key());
    for (const FamilyInterval& interval : family.intervals)
      intervals.push_back({interval.last_m, interval.kernel, compact(interval.time_s * 1e6)});
    for (const FamilyProbe& probe : family.probes)
      probes.push_back({probe.m, compact(probe.family_s * 1e6), compact(probe.best_s * 1e6),
                        compact_positive(probe.baseline_first_s * 1e6)});
    out.push_back({{"title", family.title()},
                   {"order", family.sum_order},
                   {"device", row.device_name},
                   {"conditions", family.conditions.key()},
                   {"first_m", family.first_m},
                   {"kernels", std::move(kernels)},
                   {"intervals", std::move(intervals)},
                   {"probes", std::move(probes)}});
  }
  return out;
}

json comparison_data(const PageContent& content) {
  if (content.before.empty()) return nullptr;
  json rows = json::array();
  for (const ComparedResult& compared : compare_results(content.before, content.results)) {
    const session::RankedVariant& then = compared.before->answer.best();
    rows.push_back({{"id", compared.after - content.results.data()},
                    {"change", session::to_string(compared.change)},
                    {"before_us", compact(then.time_s * 1e6)},
                    {"speed", compact_positive(compared.speed_ratio)},
                    {"baseline", compact_positive(compared.baseline_ratio)},
                    {"before_ratio", compact_positive(then.ratio_to_baseline)},
                    {"before_low", compact_positive(then.ratio_low)},
                    {"before_high", compact_positive(then.ratio_high)}});
  }
  return {{"name", content.before_name}, {"before", content.before.size()}, {"rows", std::move(rows)}};
}

}  // namespace

json page_data(const Context& context, const PageContent& content) {
  const DetailLimits limits = detail_limits(content.results.size());
  SharedTexts texts;
  json groups = json::array(), ceilings = json::array(), problems = json::array();
  std::map<const StoredResult*, std::size_t> group_of;
  for (const ResultGroup& group : grouped(content.results)) {
    for (const StoredResult* result : group.results) group_of[result] = groups.size();
    groups.push_back({{"headline", group.headline}, {"kinds", kinds_data(group)}});
  }
  std::map<db::RowId, db::SessionRow> sessions;
  for (db::SessionRow& row : db::list_sessions(content.database)) sessions.emplace(row.id, std::move(row));
  const std::map<db::RowId, db::Program> programs = db::session_programs(content.database);
  std::vector<db::RowId> ids;
  for (const RooflinePoint& point : roofline(context, content.database, content.results)) {
    const StoredResult& result = *point.result;
    const db::RowId session = result.row.session;
    json problem = problem_data(result, point, texts);
    problem["started"] = sessions.at(session).started_at;
    problem["group"] = group_of.at(&result);
    problem["ceilings"] = point.ceilings ? json(ceilings_number(*point.ceilings, ceilings)) : json(nullptr);
    problem["facts"] = judgement_data(result, texts);
    if (point.counters) problem["counters"] = counters_data(*point.counters, texts);
    problem["provenance"] = provenance_data(result, sessions.at(session), programs.at(session), texts);
    problems.push_back(std::move(problem));
    ids.push_back(session);
  }
  // In the order of the results.
  std::size_t place = 0;
  db::for_each_history(content.database, ids, [&](db::RowId /*session*/, const std::vector<db::PastTrialRow>& history) {
    problems[place++]["search"] = search_data(history, limits.variants, texts);
  });
  place = 0;
  db::for_each_rounds(content.database, ids, {Stage::kFinal, Stage::kConfirm},
                      [&](db::RowId /*session*/, const std::vector<db::ContenderSamplesRow>& rounds) {
                        problems[place]["samples"] = sample_data(content.results[place], rounds, limits.rounds);
                        ++place;
                      });
  const std::string commit = kCommit;
  json document = {{"pgtune", commit.empty() ? std::string(kVersion) : fmt::format("{} ({})", kVersion, commit)},
                   {"made_at", db::utc_now()},
                   {"database", content.database_name},
                   {"groups", std::move(groups)},
                   {"ceilings", std::move(ceilings)},
                   {"ranking_columns", ranking_columns()},
                   {"problems", std::move(problems)},
                   {"boards", boards_data(content.boards)},
                   {"comparison", comparison_data(content)},
                   {"families", families_data(content.families)},
                   {"texts", texts.texts()}};
  for (const PageSection& section : content.sections) document[section.report.name] = section.results.page;
  return document;
}

}  // namespace pgtune::tool
