// SPDX-License-Identifier: MIT
#include "preload/program/trace_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "preload/program/serve_report.hpp"
#include "preload/program/traced_problem.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"
#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tuner/stats/descriptive.hpp"
#include "tuner/util/count_text.hpp"

namespace pgtune::tool {
namespace {

/// From this many shapes on that differ in M alone they are a line together, as a range of M.
constexpr std::size_t kFewestOfFamily = 4;
/// Lines that have less of the time than this, all together, are not worth a search.
constexpr double kLightest = 0.01;
/// A shape with this share of the time has a line of its own in any case: exact kernels are served before a range's.
constexpr double kOwnShare = 0.05;

/// One line: calls that are the same problem or of one family, or are refused for the same reason.
struct Line {
  std::string text;
  std::string refusal;  ///< empty: pgtune can search it
  std::string family;   ///< the text without M; empty where A's rows are M long, so that their pitch depends on it
  std::set<std::int64_t> m;
  std::uint64_t calls = 0, captured_calls = 0, replayed_calls = 0;
  std::set<std::string> functions;
  std::uint64_t runs = 0;
  double time_s = 0;
  bool timed = false;  ///< some were
};

Line line_of(const RecordedGemm& gemm, bool tf32, std::optional<Dtype> f32) {
  Line line;
  const preload::Key& key = gemm.key;
  if (auto problem = problem_of(key, tf32)) {
    if (f32 && problem->dtype == Dtype::kF32) problem->dtype = *f32;
    line.text = listed(*problem).line;
    if (!problem->layout().starts_with('t')) line.family = line.text.substr(line.text.find('x'));
    line.m.insert(problem->m);
  } else {
    line.text = title_of(key, tf32);
    line.refusal = problem.error().message;
  }
  line.calls = gemm.calls;
  line.captured_calls = gemm.captured_calls;
  line.replayed_calls = gemm.replayed_calls;
  line.runs = gemm.runs();
  line.functions.insert(preload::kCallNames[static_cast<std::size_t>(key.call)]);
  line.time_s = gemm.time_s;
  line.timed = !gemm.samples_s.empty();
  return line;
}

void merge(Line& into, const Line& from) {
  into.m.insert(from.m.begin(), from.m.end());
  into.calls += from.calls;
  into.captured_calls += from.captured_calls;
  into.replayed_calls += from.replayed_calls;
  into.runs += from.runs;
  into.functions.insert(from.functions.begin(), from.functions.end());
  into.time_s += from.time_s;
  into.timed = into.timed || from.timed;
}

/// Light lines of a family as one.
std::vector<Line> with_families(std::vector<Line> lines, double all_s) {
  const auto is_light = [&](const Line& line) { return !line.family.empty() && line.time_s < kOwnShare * all_s; };
  std::map<std::string, Line> families;
  for (const Line& line : lines) {
    if (!is_light(line)) continue;
    const auto [family, is_new] = families.try_emplace(line.family, line);
    if (!is_new) merge(family->second, line);
  }
  std::erase_if(families, [](const auto& family) { return family.second.m.size() < kFewestOfFamily; });
  std::erase_if(lines, [&](const Line& line) { return is_light(line) && families.contains(line.family); });
  for (auto& [name, line] : families) {
    line.text = fmt::format("{}..{}{}", *line.m.begin(), *line.m.rbegin(), name);
    lines.push_back(std::move(line));
  }
  return lines;
}

/// The heaviest first.
std::vector<Line> lines_of(const RecordedGemms& recorded, bool tf32, std::optional<Dtype> f32) {
  std::map<std::pair<std::string, std::string>, Line> merged;
  for (const RecordedGemm& gemm : recorded.gemms) {
    Line line = line_of(gemm, tf32, f32);
    const auto [place, is_new] = merged.try_emplace({line.text, line.refusal}, line);
    if (!is_new) merge(place->second, line);
  }
  std::vector<Line> lines;
  for (auto& [key, line] : merged) lines.push_back(std::move(line));
  lines = with_families(std::move(lines), recorded.time_s());
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.time_s > b.time_s; });
  return lines;
}

std::string share_text(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string calls_text(const Line& line) {
  const auto count = [](std::uint64_t calls) { return count_text(static_cast<std::int64_t>(calls)); };
  std::string text = line.m.size() > 1 ? fmt::format("{} values of M, ", line.m.size()) : "";
  text += counted(line.calls, "call");
  if (line.captured_calls > 0) text += fmt::format(" and {} captured", count(line.captured_calls));
  if (line.replayed_calls > 0) text += fmt::format(" that graphs ran {} times", count(line.replayed_calls));
  if (line.timed) text += fmt::format(", {:.3g} us each", line.time_s / static_cast<double>(line.runs) * 1e6);
  return fmt::format("{}, {}", text, fmt::join(line.functions, " "));
}

}  // namespace

TraceList trace_list(const RecordedGemms& recorded, const std::string& program, std::size_t top, bool tf32,
                     std::optional<Dtype> f32) {
  const std::vector<Line> lines = lines_of(recorded, tf32, f32);
  TraceList list;
  double left_out_s = 0, rest_s = 0;  // of what can be searched
  for (const Line& line : lines) rest_s += line.refusal.empty() ? line.time_s : 0;
  list.calls = recorded.all_calls();
  const double all_s = recorded.time_s() > 0 ? recorded.time_s() : 1;
  std::size_t width = 0, left_out = 0;
  for (const Line& line : lines) {
    if (line.refusal.empty()) width = std::max(width, line.text.size());
  }
  std::string searched, refused;
  for (const Line& line : lines) {
    const std::string what = fmt::format("{:>6}  {}", share_text(line.time_s / all_s), calls_text(line));
    if (!line.refusal.empty()) {
      refused += fmt::format("# {}  {}: {}\n", what, line.text, line.refusal);
    } else if (list.shapes < top && rest_s >= kLightest * all_s) {
      constexpr double kLeast = 0.01;  // a weight is above 0
      searched += fmt::format("{:<{}} weight {:<6.2f} # {}\n", line.text, width,
                              std::max(line.time_s / all_s * 100, kLeast), what);
      list.searched_share += line.time_s / all_s;
      ++list.shapes;
    } else {
      ++left_out;
      left_out_s += line.time_s;
    }
    if (line.refusal.empty()) rest_s -= line.time_s;
  }
  list.text = fmt::format(
      "# GEMMs that '{}' asked of cuBLAS, from `pgtune run --trace`; shares are of their GPU time.\n"
      "# {} in {} {}.\n",
      program, counted(list.calls, "call"), recorded.processes, recorded.processes == 1 ? "process" : "processes");
  for (const std::string& line : unseen_report(recorded)) list.text += "# " + line + "\n";
  list.text += searched;
  if (left_out > 0) list.text += fmt::format("# {} more, {} together.\n", left_out, share_text(left_out_s / all_s));
  if (!refused.empty()) list.text += "# Not searched:\n" + refused;
  return list;
}

}  // namespace pgtune::tool
