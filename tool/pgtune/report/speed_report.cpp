// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/speed_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>

#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/report/answer_text.hpp"
#include "tool/pgtune/report/result_columns.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/stats/descriptive.hpp"
#include "tuner/util/count_text.hpp"

namespace pgtune::tool {

SpeedFigures speed_figures(const StoredResult& result) {
  const session::RankedVariant& best = result.answer.best();
  const double best_s = result.answer.baseline_best_s;
  SpeedFigures figures;
  figures.tflops = best.tflops;
  // Against the best algorithm the paired ratio of the rounds is shown, never a quotient of two medians; the first
  // heuristic is scaled from it by the two baselines' medians of the same rounds.
  figures.percent_of_best = 100 * best.ratio_to_baseline;
  figures.percent_of_first = best_s > 0 ? figures.percent_of_best * result.answer.baseline_first_s / best_s : 0;
  figures.spread_percent = 100 * best.spread;
  return figures;
}

std::vector<KindSummary> summarise_kinds(const std::vector<const StoredResult*>& results) {
  std::map<std::pair<KindOrder, std::string>, std::vector<const StoredResult*>> by_kind;
  for (const StoredResult* result : results) {
    by_kind[{result->problem.kind_order(), baseline_name(result->answer)}].push_back(result);
  }
  std::vector<KindSummary> out;
  for (const auto& [key, of_kind] : by_kind) {
    KindSummary summary;
    summary.kind = of_kind.front()->problem.kind();
    summary.baseline = baseline_name(of_kind.front()->answer);
    summary.problems = of_kind.size();
    std::vector<double> of_best, of_first;
    for (const StoredResult* result : of_kind) {
      const SpeedFigures figures = speed_figures(*result);
      of_best.push_back(figures.percent_of_best);
      of_first.push_back(figures.percent_of_first);
      ++summary.verdicts[std::string(verdict_word(result->answer.best(), result->answer.from_final))];
    }
    const auto [least, most] = std::minmax_element(of_best.begin(), of_best.end());
    summary.percent_of_best = stats::geometric_mean(of_best);
    summary.percent_of_first = stats::geometric_mean(of_first);
    summary.least_percent = *least;
    summary.most_percent = *most;
    out.push_back(std::move(summary));
  }
  return out;
}

namespace {

/// What speeds are told in where that is one unit; else each section says its own.
std::string speed_header(const ResultGroup& group) {
  const std::string_view unit = group.results.front()->problem.speed_unit();
  const bool same = std::all_of(group.results.begin(), group.results.end(),
                                [&](const StoredResult* result) { return result->problem.speed_unit() == unit; });
  return same ? std::string(unit) : "speed";
}

std::string table_text(const ResultGroup& group, const Terminal& terminal) {
  TextTable table({{"problem", Align::kLeft, Wrap::kWords},
                   {.title = "template", .left_out = 1},
                   {speed_header(group), Align::kRight, Wrap::kNone, 3},
                   {"% first", Align::kRight, Wrap::kNone, 2},
                   {"% best", Align::kRight},
                   {"interval", Align::kRight, Wrap::kNone, 4},
                   {"verdict"}});
  for (const TableSection& section : table_sections(group.results)) {
    table.add_section(section.title);
    for (const StoredResult* result : section.results) {
      const session::RankedVariant& best = result->answer.best();
      const SpeedFigures line = speed_figures(*result);
      table.add_row({row_title(*result), best.variant.template_name, speed_text(result->problem, best.time_s),
                     fmt::format("{:.1f}", line.percent_of_first), fmt::format("{:.1f}", line.percent_of_best),
                     result->answer.from_final ? percent_interval_text(best.ratio_low, best.ratio_high) : "",
                     short_verdict(result->answer)},
                    verdict_style(result->answer));
    }
  }
  return table.text(terminal);
}

/// For each kind with several problems: "bf16: 44 problems, geometric mean 102.3 % of cuBLASLt's best ...".
std::string summary_text(const ResultGroup& group, const Terminal& terminal) {
  std::string text;
  for (const KindSummary& summary : summarise_kinds(group.results)) {
    if (summary.problems < 2) continue;
    const std::string line =
        fmt::format("{}, {} problems: geometric mean {:.1f} % of {}'s best ({:.1f} to {:.1f}), {:.1f} % of its first",
                    summary.kind, summary.problems, summary.percent_of_best, summary.baseline, summary.least_percent,
                    summary.most_percent, summary.percent_of_first);
    constexpr std::size_t kIndent = 2;
    text += fmt::format("{}\n", fmt::join(wrap_text(line, terminal.output_width() - kIndent), "\n  "));
  }
  return text;
}

}  // namespace

void print_speed_report(Terminal& terminal, const std::vector<StoredResult>& results) {
  if (results.empty()) return;
  for (const ResultGroup& group : grouped(results)) {
    print_headline(terminal, group);
    terminal.print(table_text(group, terminal) + summary_text(group, terminal) + '\n');
  }
  const auto is_copied = [](const StoredResult& result) { return baseline_name(result.answer) == kCopyBaseline; };
  if (std::any_of(results.begin(), results.end(), is_copied))
    print_wrapped(terminal,
                  "Operations without a library's product stand beside ways of copying as many bytes instead of "
                  "cuBLASLt's algorithms.");
  print_wrapped(terminal,
                "% first, % best: speed against cuBLASLt's first heuristic and its best algorithm, 100 is equal; "
                "interval: 95 %, of % best, over the final's rounds; by power: faster through a higher clock in the "
                "same power budget, not in cycles.");
  const auto is_screened = [](const StoredResult& result) { return !result.answer.from_final; };
  if (std::any_of(results.begin(), results.end(), is_screened))
    print_wrapped(terminal, "none: the times are from screening, since the final is not whole.");
  print_baseline_legend(terminal, results);
  print_marks_legend(terminal, results);
}

nlohmann::json speed_report_json(const std::vector<StoredResult>& results) {
  nlohmann::json out = nlohmann::json::array();
  for (const StoredResult& result : results) {
    const session::RankedVariant& best = result.answer.best();
    const SpeedFigures line = speed_figures(result);
    const bool whole = result.answer.from_final;
    out.push_back(result_identity(result));
    out.back().update({{"tflops", line.tflops},
                       {"percent_of_first", line.percent_of_first},
                       {"percent_of_best", line.percent_of_best},
                       {"percent_of_best_interval",
                        whole ? nlohmann::json{100 * best.ratio_low, 100 * best.ratio_high} : nlohmann::json(nullptr)},
                       {"verdict", verdict_word(best, whole)},
                       {"noise_margin", result.answer.floor.margin},
                       {"spread_percent", line.spread_percent}});
  }
  return out;
}

std::string speed_report_csv(const std::vector<StoredResult>& results) {
  std::vector<std::string> columns = result_columns();
  columns.insert(columns.end(), {"time_s", "speed_flop_per_s", "baseline_first_s", "baseline_best_s",
                                 "ratio_to_baseline", "ratio_low", "ratio_high", "verdict", "noise_margin", "spread"});
  CsvWriter csv(columns);
  for (const StoredResult& result : results) {
    const session::RankedVariant& best = result.answer.best();
    const bool whole = result.answer.from_final;
    std::vector<std::string> cells = result_cells(result);
    cells.insert(cells.end(),
                 {csv_number(best.time_s), csv_number(best.tflops * 1e12), csv_number(result.answer.baseline_first_s),
                  csv_number(result.answer.baseline_best_s), csv_number(best.ratio_to_baseline),
                  whole ? csv_number(best.ratio_low) : "", whole ? csv_number(best.ratio_high) : "",
                  std::string(verdict_word(best, whole)), csv_number(result.answer.floor.margin),
                  csv_number(speed_figures(result).spread_percent / 100)});
    csv.add_row(cells);
  }
  return csv.text();
}

namespace {

auto compared_key(const StoredResult& result) {
  return std::make_tuple(result.row.problem_key, device_class(result.device).hardware(), result.row.recorded,
                         result.row.conditions_key);
}

using Newest = std::map<decltype(compared_key(std::declval<const StoredResult&>())), const StoredResult*>;

Newest newest_of(const std::vector<StoredResult>& results) {
  Newest newest;
  for (const StoredResult& result : results) {
    const StoredResult*& known = newest[compared_key(result)];
    if (known == nullptr || result.row.session > known->row.session) known = &result;
  }
  return newest;
}

double quotient(double dividend, double divisor) { return divisor > 0 ? dividend / divisor : 0; }

}  // namespace

std::vector<ComparedResult> compare_results(const std::vector<StoredResult>& before,
                                            const std::vector<StoredResult>& after) {
  const Newest olds = newest_of(before), news = newest_of(after);
  std::vector<ComparedResult> out;
  for (const StoredResult& result : after) {
    const auto key = compared_key(result);
    const auto old = olds.find(key);
    if (old == olds.end() || news.at(key) != &result) continue;
    const session::Answer &then = old->second->answer, &now = result.answer;
    const double margin = std::max(then.floor.margin, now.floor.margin);
    out.push_back({old->second, &result, session::held(then.best(), now.best(), margin).held,
                   quotient(then.best().time_s, now.best().time_s),
                   quotient(then.baseline_best_s, now.baseline_best_s)});
  }
  return out;
}

void print_comparison(Terminal& terminal, std::vector<ComparedResult> compared) {
  const auto change = [](const ComparedResult& row) {
    return quotient(row.after->answer.best().ratio_to_baseline, row.before->answer.best().ratio_to_baseline);
  };
  const auto effect = [&](const ComparedResult& row) { return change(row) > 0 ? std::abs(std::log(change(row))) : 0; };
  std::stable_sort(compared.begin(), compared.end(),
                   [&](const ComparedResult& a, const ComparedResult& b) { return effect(a) > effect(b); });
  TextTable table({{"problem", Align::kLeft, Wrap::kWords},
                   {.title = "x best before", .left_out = 1},
                   {.title = "x best now", .left_out = 2},
                   {"change", Align::kRight},
                   {"verdict"}});
  std::map<session::Held, std::size_t> counts;
  const auto word = [](session::Held held) {
    return held == session::Held::kHeld ? std::string("same") : std::string(to_string(held));
  };
  for (const ComparedResult& row : compared) {
    const session::RankedVariant &before = row.before->answer.best(), &now = row.after->answer.best();
    ++counts[row.change];
    table.add_row({marked_title(*row.after), ratio_text(before.ratio_to_baseline, before.ratio_low, before.ratio_high),
                   ratio_text(now.ratio_to_baseline, now.ratio_low, now.ratio_high),
                   change(row) > 0 ? fmt::format("{:+.1f} %", 100 * (change(row) - 1)) : "", word(row.change)},
                  held_style(row.change));
  }
  terminal.print(table.text(terminal));
  std::vector<std::string> parts;
  for (const session::Held held :
       {session::Held::kFaster, session::Held::kSlower, session::Held::kHeld, session::Held::kUnclear}) {
    if (counts[held] > 0) parts.push_back(fmt::format("{} {}", counts[held], word(held)));
  }
  terminal.print(fmt::format("{}: {}\n", counted(compared.size(), "problem"), fmt::join(parts, ", ")));
}

}  // namespace pgtune::tool
