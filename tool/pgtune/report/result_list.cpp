// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/result_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/report/answer_text.hpp"
#include "tuner/stats/descriptive.hpp"
#include "tuner/stats/interval.hpp"
#include "tuner/util/count_text.hpp"

namespace pgtune::tool {
namespace {

/// In the order of the line.
enum ColumnPlace : std::size_t { kProblem, kTime, kSpeed, kRatio, kInterval, kVerdict, kMean, kTemplate };
constexpr std::size_t kGap = 2;
constexpr std::size_t kTemplateWidth = 24;

}  // namespace

ResultList::ResultList(const std::vector<Problem>& problems, std::size_t width)
    : columns_{{"problem", 7}, {"ms", 7},      {"speed", 15}, {"x best", 6},
               {"95 %", 13},   {"verdict", 8}, {"mean", 5},   {"template", kTemplateWidth}} {
  for (const Problem& problem : problems)
    columns_[kProblem].width = std::max(columns_[kProblem].width, problem.title().size());
  for (const ColumnPlace place : {kTemplate, kTime, kInterval, kSpeed, kMean}) {
    std::size_t needed = 0;
    for (const Column& column : columns_) needed += column.shown ? column.width + kGap : 0;
    if (needed <= width + kGap) break;
    columns_[place].shown = false;
  }
}

std::string ResultList::row(const std::vector<std::string>& cells) const {
  std::string out;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (!columns_[c].shown) continue;
    const bool left = c == kProblem || c == kVerdict || c == kTemplate;
    out += left ? fmt::format("{:<{}}", cells[c], columns_[c].width + kGap)
                : fmt::format("{:>{}}{:{}}", cells[c], columns_[c].width, "", kGap);
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out + '\n';
}

std::string ResultList::line(const SearchOutcome& outcome, const Terminal& terminal) {
  std::string out;
  if (!begun_) {
    std::vector<std::string> titles;
    for (const Column& column : columns_) titles.emplace_back(column.title);
    out = terminal.styled(Style::kBold, row(titles));
  }
  begun_ = true;
  const std::string title = outcome.problem.title();
  if (!outcome.result.answer) {
    ++verdicts_["without a result"];
    return out + row({title, "no valid variant"});
  }
  const session::Answer& answer = *outcome.result.answer;
  const session::RankedVariant& best = answer.best();
  const std::string verdict = short_verdict(answer);
  ++verdicts_[verdict == "by power" ? "faster" : verdict];
  if (best.ratio_to_baseline > 0) {
    if (ratios_.empty() || best.ratio_to_baseline < *std::min_element(ratios_.begin(), ratios_.end())) slowest_ = title;
    ratios_.push_back(best.ratio_to_baseline);
  }
  const std::string interval =
      answer.from_final && best.ratio_low > 0
          ? fmt::format("({:.3f}-{:.3f})", stats::rounded_down(best.ratio_low), stats::rounded_up(best.ratio_high))
          : "";
  const std::string plain =
      row({title, milliseconds_text(best.time_s),
           fmt::format("{} {}", speed_text(outcome.problem, best.time_s), outcome.problem.speed_unit()),
           fmt::format("{:.3f}", best.ratio_to_baseline), interval, verdict,
           ratios_.empty() ? "" : fmt::format("{:.3f}", stats::geometric_mean(ratios_)), best.variant.template_name});
  return out + terminal.styled(verdict_style(answer), plain.substr(0, plain.size() - 1)) + '\n';
}

std::string ResultList::summary() const {
  if (ratios_.empty()) return {};
  std::size_t problems = 0;
  std::vector<std::string> parts;
  for (const auto& [verdict, count] : verdicts_) problems += count;
  for (const char* verdict : {"faster", "tie", "slower", "unclear", "none", "without a result"}) {
    if (const auto found = verdicts_.find(verdict); found != verdicts_.end())
      parts.push_back(fmt::format("{} {}", found->second, verdict));
  }
  return fmt::format("{}: {}\nx best: geometric mean {:.3f}, median {:.3f}, least {:.3f} ({})\n",
                     counted(problems, "problem"), fmt::join(parts, ", "), stats::geometric_mean(ratios_),
                     stats::median(ratios_), *std::min_element(ratios_.begin(), ratios_.end()), slowest_);
}

}  // namespace pgtune::tool
