// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/brief_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/report/answer_text.hpp"
#include "tool/pgtune/report/roofline_report.hpp"
#include "tuner/stats/interval.hpp"
#include "tuner/util/count_text.hpp"

namespace pgtune::tool {
namespace {

/// Names of parameters that are about one thing have one of these parts; the first group that fits.
struct ParameterGroup {
  const char* name;
  std::vector<std::string_view> parts;
};
const std::vector<ParameterGroup>& parameter_groups() {
  static const std::vector<ParameterGroup> groups{
      {"arithmetic", {"FFMA", "TF32", "PROMOTION_INTERVAL"}},
      {"grid", {"GRID", "DECOMPOSITION", "SPLIT_K", "RASTER", "CTAS_PER", "CLUSTER", "DEPENDENT"}},
      {"pipeline", {"STAGES", "COPY", "FLIGHT", "SCHEDULE", "STAGGER", "UNROLL", "D_BUFFERS"}},
      {"tile",
       {"BM", "BN", "BK", "TM", "TN", "WM", "WN", "LANES", "WARP", "LINE", "THREADS", "ROWS", "COLUMNS", "SLICED",
        "SWAP"}},
      {"memory",
       {"HINT", "CACHE", "L2", "SOURCE", "TRANSPOSE", "VEC", "READ", "WRITE", "PAD", "SMEM", "PACK", "EPILOGUE"}}};
  return groups;
}

/// "1.026x cuBLASLt's best (1.025-1.028)  faster"
std::string headline_text(const session::Answer& answer) {
  const session::RankedVariant& best = answer.best();
  if (!(best.ratio_to_baseline > 0)) return "compared with nothing: no baseline was timed";
  std::string text = fmt::format("{:.3f}x {}'s best", best.ratio_to_baseline, baseline_name(answer));
  if (!answer.from_final) return text + "  no verdict: it stopped before its final was whole";
  if (best.ratio_low > 0)
    text += fmt::format(" ({:.3f}-{:.3f})", stats::rounded_down(best.ratio_low), stats::rounded_up(best.ratio_high));
  return text + (best.verdict == stats::Verdict::kFasterThroughPower
                     ? "  faster through power"
                     : fmt::format("  {}", verdict_word(best, answer.from_final)));
}

/// "2.544 ms, 54.02 TFLOP/s, 93 % of the arithmetic roof"
std::string time_text(const AnswerView& view) {
  const session::RankedVariant& best = view.answer.best();
  std::string text = fmt::format("{} ms, {} {}", milliseconds_text(best.time_s), speed_text(view.problem, best.time_s),
                                 view.problem.speed_unit());
  StoredResult result;
  result.problem = view.problem;
  result.device = view.device;
  result.answer = view.answer;
  result.row.conditions_key = view.conditions.key();
  const space::TemplateDefinition* const measured = view.other_version ? nullptr : &view.templates.of(best.variant);
  if (const auto roof = binding_roof(result, measured, view.ceilings))
    text += fmt::format(", {:.0f} % of the {} roof", 100 * roof->share, roof->name);
  return text;
}

/// "best 2.588 ms (unlisted), first 2.658 ms (1 of 32), copy alone 1.200 ms", and what it leaves out or does beside.
std::string baseline_text(const Problem& problem, const BaselineReport& baseline, const session::Answer& answer) {
  std::vector<std::string> parts;
  const auto add = [&](const char* name, int index, double final_s) {
    if (index < 0 || static_cast<std::size_t>(index) >= baseline.algorithms.size()) return;
    const AlgorithmReport& algorithm = baseline.algorithms[static_cast<std::size_t>(index)];
    parts.push_back(fmt::format("{} {} ms ({})", name, milliseconds_text(final_s > 0 ? final_s : algorithm.time_s),
                                place_text(algorithm, baseline)));
  };
  add("best", answer.compared_algorithm(baseline), answer.baseline_best_s);
  add("first", baseline.first, answer.baseline_first_s);
  for (const OtherBaseline& other : baseline.others) {
    if (other.time_s > 0)
      parts.push_back(fmt::format("{} alone {} ms", other.is_laid_out_before() ? "laid out before" : other.library,
                                  milliseconds_text(other.time_s)));
    if (!other.unavailable.empty()) parts.push_back("no " + other.library);
  }
  if (!baseline.copied.empty()) parts.push_back(fmt::format("with copies of {}", baseline.copied));
  if (!baseline.enlarged_shape.empty())
    parts.push_back(fmt::format("on {}, with zeros added", baseline.enlarged_shape));
  const Activation activation = problem.epilogue.activation;
  if (!cublaslt_fuses(activation)) parts.push_back(fmt::format("without {}", to_string(activation)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// "sustained, settled samples, 1381 MHz (cuBLASLt 1393), ties < 0.50 %"
std::string measured_text(const session::Answer& answer, const Conditions& conditions) {
  std::string text = conditions == Conditions{} ? "sustained" : conditions_text(conditions);
  if (answer.from_final) text += answer.sampling == Sampling::kSettled ? ", settled samples" : ", short samples";
  const double clock_hz = answer.best().sm_clock_hz;
  if (clock_hz > 0 && answer.baseline_clock_hz > 0)
    text +=
        fmt::format(", {:.0f} MHz ({} {:.0f})", clock_hz / 1e6, baseline_name(answer), answer.baseline_clock_hz / 1e6);
  return text + fmt::format(", ties < {:.2f} %", 100 * answer.floor.margin);
}

}  // namespace

/// An algorithm's place in the heuristic's list, or that pgtune found it beside the list.
std::string place_text(const AlgorithmReport& algorithm, const BaselineReport& baseline) {
  return algorithm.rank >= 0 ? fmt::format("{} of {}", algorithm.rank + 1, baseline.algorithms.size()) : "unlisted";
}

std::string assignment_text(const Assignment& assignment) {
  return fmt::format("{}={}", assignment.name, to_string(assignment.value));
}

std::string winner_text(const Variant& variant, const space::TemplateSet& templates) {
  std::map<std::string, std::vector<std::string>> groups;
  for (const space::Parameter& parameter : templates.of(variant).parameters) {
    const ParameterValue* value = variant.find(parameter.name);
    if (value == nullptr || *value == parameter.default_value) continue;
    const auto has = [&](std::string_view part) { return parameter.name.find(part) != std::string::npos; };
    const auto& all = parameter_groups();
    const auto group = std::find_if(all.begin(), all.end(), [&](const ParameterGroup& candidate) {
      return std::any_of(candidate.parts.begin(), candidate.parts.end(), has);
    });
    groups[group == all.end() ? "other" : group->name].push_back(assignment_text({parameter.name, *value}));
  }
  if (groups.empty()) return variant.template_name + "; all parameters default";
  std::string text = variant.template_name;
  for (const char* name : {"tile", "pipeline", "grid", "memory", "arithmetic", "other"}) {
    if (const auto found = groups.find(name); found != groups.end())
      text += fmt::format("; {}: {}", name, fmt::join(found->second, " "));
  }
  return text + "; the rest default";
}

std::string verdict_lines(const AnswerView& view, const Terminal& terminal) {
  std::string out = terminal.styled(verdict_style(view.answer), headline_text(view.answer)) + '\n';
  for (const std::string& line : wrap_text(time_text(view), text_width(terminal))) out += line + '\n';
  return out;
}

std::string measured_facts(const AnswerView& view, const Terminal& terminal) {
  constexpr std::size_t kLongestLabel = 9;
  const std::size_t width = text_width(terminal);
  const std::string name = baseline_name(view.answer);
  return fact(name.size() <= kLongestLabel ? name.c_str() : "baseline",
              baseline_text(view.problem, view.baseline, view.answer), width) +
         energy_facts(view.answer) + fact("measured", measured_text(view.answer, view.conditions), width);
}

std::string notes_text(const session::Answer& answer) {
  const std::size_t notes = answer.notes.size();
  return notes == 0 ? "" : fmt::format("  ({})", counted(notes, "note"));
}

}  // namespace pgtune::tool
