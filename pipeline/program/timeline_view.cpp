// SPDX-License-Identifier: MIT
#include "pipeline/program/timeline_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "tool/pgtune/cli/terminal/text_table.hpp"

namespace pgtune::tool {
namespace {

using pipeline::Gap;
using pipeline::Span;
using pipeline::Step;
using pipeline::Timeline;

constexpr std::array kWorkers{Step::kCopyIn, Step::kCompute, Step::kCopyOut};
/// Gaps shorter than this share of the whole are noise of the events.
constexpr double kLeastGap = 1e-3;

const char* worker_name(Step step) {
  return step == Step::kCopyIn ? "copy in" : step == Step::kCompute ? "compute" : "copy out";
}

std::string lane(const Timeline& timeline, Step step, std::size_t columns) {
  std::string text(columns, '.');
  for (std::size_t column = 0; column < columns; ++column) {
    const double per_column_s = timeline.total_s / static_cast<double>(columns);
    const double from_s = per_column_s * static_cast<double>(column), to_s = from_s + per_column_s;
    std::map<int, double> busy_s;  // by chunk
    for (const Span& span : timeline.spans) {
      if (span.step != step) continue;
      const double common_s = std::min(span.end_s, to_s) - std::max(span.start_s, from_s);
      if (common_s > 0) busy_s[span.chunk] += common_s;
    }
    double total_s = 0;
    for (const auto& [chunk, seconds] : busy_s) total_s += seconds;
    if (total_s < 0.5 * per_column_s) continue;
    const auto most = std::max_element(busy_s.begin(), busy_s.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    text[column] = most->first == pipeline::kNoChunk ? '#' : static_cast<char>('0' + most->first % 10);
  }
  return text;
}

std::string cause_text(pipeline::GapCause cause) {
  switch (cause) {
    case pipeline::GapCause::kCopyIn:
    case pipeline::GapCause::kCompute:
    case pipeline::GapCause::kBuffer:
    case pipeline::GapCause::kBus:
    case pipeline::GapCause::kHost:
      return fmt::format("waiting for {}{}",
                         cause == pipeline::GapCause::kBuffer                                      ? "a "
                         : cause == pipeline::GapCause::kBus || cause == pipeline::GapCause::kHost ? "the "
                                                                                                   : "",
                         to_string(cause));
    case pipeline::GapCause::kFill:
    case pipeline::GapCause::kDrain:
    case pipeline::GapCause::kFalseDependency:
      break;
  }
  return std::string(to_string(cause));
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string timeline_text(const pipeline::Schedule& schedule, const Timeline& timeline, std::size_t width) {
  if (timeline.total_s <= 0) return {};
  constexpr std::size_t kLabel = 10;
  const std::size_t columns = std::max<std::size_t>(width, kLabel + 12) - kLabel - 2;
  std::string text;
  for (const Step step : kWorkers)
    text += fmt::format("{:<{}}|{}|\n", worker_name(step), kLabel, lane(timeline, step, columns));
  const std::string end = fmt::format("{:.3g} ms", 1e3 * timeline.total_s);
  text += fmt::format("{:<{}} 0{:>{}}\n", "", kLabel, end, columns - 1);
  const auto gaps = gaps_of(schedule, timeline, kLeastGap * timeline.total_s);
  for (const Step step : kWorkers) {
    std::map<pipeline::GapCause, double> idle_s;
    for (const Gap& gap : gaps) {
      if (gap.worker == step) idle_s[gap.cause] += gap.end_s - gap.start_s;
    }
    std::string causes;
    for (const auto& [cause, seconds] : idle_s)
      causes +=
          fmt::format("{}{} {:.1f} %", causes.empty() ? "" : ", ", cause_text(cause), 100 * seconds / timeline.total_s);
    if (!causes.empty()) text += fact(worker_name(step), "idle: " + causes);
  }
  return text + fact("times", "from " + source_text(timeline));
}

std::string timeline_svg(const pipeline::Schedule& schedule, const Timeline& timeline, const std::string& title) {
  constexpr double kLeft = 80, kWide = 880, kTop = 40, kLane = 44, kBar = 30;
  constexpr std::array kColors{"#4269d0", "#3ca951", "#efb118"};
  const double total_s = std::max(timeline.total_s, 1e-9);
  const auto x = [&](double seconds) { return kLeft + kWide * seconds / total_s; };
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" font-family=\"sans-serif\" "
      "font-size=\"12\" fill=\"currentColor\">\n<title>{}</title>\n<text x=\"{:.0f}\" y=\"20\">{}</text>\n",
      kLeft + kWide + 20, kTop + 3 * kLane + 30, escaped(title), kLeft, escaped(title));
  for (std::size_t i = 0; i < kWorkers.size(); ++i) {
    const double y = kTop + kLane * static_cast<double>(i);
    svg += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>\n", kLeft - 8, y + 20,
                       worker_name(kWorkers[i]));
    for (const Span& span : timeline.spans) {
      if (span.step != kWorkers[i]) continue;
      svg += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" height=\"{:.0f}\" fill=\"{}\" opacity=\"{}\"><title>{}{}, "
          "{:.3f} to {:.3f} ms</title></rect>\n",
          x(span.start_s), y, std::max(0.2, x(span.end_s) - x(span.start_s)), kBar, kColors[i],
          span.chunk % 2 == 0 ? "1" : "0.75", worker_name(span.step),
          span.chunk == pipeline::kNoChunk ? " of a whole operand" : fmt::format(" of chunk {}", span.chunk),
          1e3 * span.start_s, 1e3 * span.end_s);
    }
  }
  for (const Gap& gap : gaps_of(schedule, timeline, 0.03 * total_s)) {
    const double y = kTop + kLane * static_cast<double>(gap.worker);
    svg += fmt::format("<text x=\"{:.2f}\" y=\"{:.0f}\" text-anchor=\"middle\" font-size=\"9\">{}</text>\n",
                       0.5 * (x(gap.start_s) + x(gap.end_s)), y + kBar + 9, cause_text(gap.cause));
  }
  svg += fmt::format(
      "<text x=\"{:.0f}\" y=\"{:.0f}\">0</text>\n<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{:.3g} "
      "ms</text>\n",
      kLeft, kTop + 3 * kLane + 16, kLeft + kWide, kTop + 3 * kLane + 16, 1e3 * total_s);
  // A reason may be longer than a line, so it is the line's title.
  svg += fmt::format(
      "<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">times from {}<title>{}</title></text>\n</svg>\n",
      kLeft + 0.5 * kWide, kTop + 3 * kLane + 16, escaped(source_text(timeline.source)),
      escaped(source_text(timeline)));
  return svg;
}

}  // namespace pgtune::tool
