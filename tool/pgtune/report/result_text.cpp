// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/result_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "tool/pgtune/cli/options/problem_options.hpp"
#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/report/answer_text.hpp"
#include "tool/pgtune/report/counters_view.hpp"
#include "tool/pgtune/report/roofline_report.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/stats/interval.hpp"

namespace pgtune::tool {
namespace {

constexpr std::size_t kShownVariants = 5;

std::string assignment_text(const Assignment& assignment) {
  return fmt::format("{}={}", assignment.name, to_string(assignment.value));
}

/// Splits parameters into those equal in every shown variant and those that differ; with several templates, all
/// parameters and the template's name count as differing.
class ParameterSplit {
 public:
  explicit ParameterSplit(const std::vector<session::RankedVariant>& shown) {
    const Variant& leader = shown.front().variant;
    several_templates_ = std::any_of(shown.begin(), shown.end(), [&](const auto& ranked) {
      return ranked.variant.template_name != leader.template_name;
    });
    if (several_templates_) return;
    for (const Assignment& first : leader.parameters) {
      const bool equal = shown.size() > 1 && std::all_of(shown.begin(), shown.end(), [&](const auto& ranked) {
                           const ParameterValue* value = ranked.variant.find(first.name);
                           return value != nullptr && *value == first.value;
                         });
      if (equal) common_.push_back(assignment_text(first));
      if (!equal) differing_.push_back(first.name);
    }
  }
  [[nodiscard]] bool one_template() const { return !several_templates_; }
  [[nodiscard]] const std::vector<std::string>& common() const { return common_; }
  [[nodiscard]] std::string differing(const Variant& variant) const {
    std::vector<std::string> texts;
    if (several_templates_) {
      texts.push_back(variant.template_name);
      for (const Assignment& assignment : variant.parameters) texts.push_back(assignment_text(assignment));
    }
    for (const std::string& name : differing_) {
      if (const ParameterValue* value = variant.find(name))
        texts.push_back(fmt::format("{}={}", name, to_string(*value)));
    }
    return fmt::format("{}", fmt::join(texts, " "));
  }

 private:
  bool several_templates_ = false;
  std::vector<std::string> common_, differing_;
};

void append_wrapped(std::string& out, const std::string& text) {
  for (const std::string& line : wrap_text(text, kTextWidth)) out += line + '\n';
}

/// An algorithm's place in the heuristic's list, or that pgtune found it beside the list.
std::string place_text(const AlgorithmReport& algorithm, const BaselineReport& baseline) {
  return algorithm.rank >= 0 ? fmt::format("{} of {}", algorithm.rank + 1, baseline.algorithms.size()) : "unlisted";
}

void add_baseline_row(TextTable& table, const SearchOutcome& outcome, const std::string& name, int index,
                      double final_s, double best_s) {
  const BaselineReport& baseline = outcome.result.baseline;
  if (index < 0 || static_cast<std::size_t>(index) >= baseline.algorithms.size()) return;
  const AlgorithmReport& algorithm = baseline.algorithms[static_cast<std::size_t>(index)];
  const double time_s = final_s > 0 ? final_s : algorithm.time_s;
  const double ratio = best_s > 0 && time_s > 0 ? best_s / time_s : 1;
  table.add_row({fmt::format("{} ({})", name, place_text(algorithm, baseline)), milliseconds_text(time_s),
                 speed_text(outcome.problem, time_s), fmt::format("{:.3f}", ratio), "", ""});
}

std::string best_table(const SearchOutcome& outcome, const session::Answer& answer) {
  std::vector<session::RankedVariant> shown = answer.ranking;
  shown.resize(std::min(shown.size(), kShownVariants));
  if (shown.empty()) return {};
  const ParameterSplit split(shown);
  TextTable times({{"kernel"},
                   {"ms", Align::kRight},
                   {std::string(outcome.problem.speed_unit()), Align::kRight},
                   {fmt::format("x {} best", baseline_name(answer))},
                   {"regs", Align::kRight},
                   {"smem KiB", Align::kRight}});
  TextTable parameters({{"#", Align::kRight}, {"parameters", Align::kLeft, Wrap::kWords}});
  int place = 0;
  for (const session::RankedVariant& ranked : shown) {
    const std::string number = std::to_string(++place);
    times.add_row({"#" + number, milliseconds_text(ranked.time_s), speed_text(outcome.problem, ranked.time_s),
                   ratio_text(ranked.ratio_to_baseline, ranked.ratio_low, ranked.ratio_high),
                   std::to_string(ranked.build.registers),
                   ranked.smem_bytes ? kibibytes_text(*ranked.smem_bytes) : "-"});
    parameters.add_row({number, split.differing(ranked.variant)});
  }
  const BaselineReport& baseline = outcome.result.baseline;
  const double best_s = answer.baseline_best_s;
  const std::string name = baseline_name(answer);
  add_baseline_row(times, outcome, fmt::format("{} best", name), answer.compared_algorithm(baseline), best_s, best_s);
  add_baseline_row(times, outcome, fmt::format("{} first", name), baseline.first, answer.baseline_first_s, best_s);
  for (const OtherBaseline& other : baseline.others) {
    if (other.time_s <= 0) continue;
    // With the library's name the row would be wider than a terminal.
    const std::string title = other.is_laid_out_before() ? "laid out before" : other.library;
    times.add_row({fmt::format("{} (timed alone)", title), milliseconds_text(other.time_s),
                   speed_text(outcome.problem, other.time_s),
                   best_s > 0 ? fmt::format("{:.3f}", best_s / other.time_s) : "", "", ""});
  }
  std::string out = times.text() + '\n' + parameters.text();
  std::vector<std::string> common = split.common();
  if (split.one_template() && outcome.templates.definitions().size() > 1)
    common.insert(common.begin(), shown.front().variant.template_name);
  if (!common.empty()) append_wrapped(out, fmt::format("all: {}", fmt::join(common, " ")));
  return out + '\n';
}

void append_counts(std::string& out, const session::SearchResult& result) {
  const session::CountsRecord& counts = result.counts;
  append_wrapped(
      out, fmt::format("{} points in the space, {} to try here, {} compiled, {} measured.", count_text(counts.space),
                       count_text(counts.valid), count_text(counts.compiled), count_text(counts.measured)));
  for (const auto& [kind, count] : counts.failed) {
    if (count == 0) continue;
    append_wrapped(out, fmt::format("{} {}", count, to_string(kind)));
    const auto examples = result.failure_examples.find(kind);
    if (examples == result.failure_examples.end()) continue;
    for (const auto& [variant, reason] : examples->second) {
      for (const std::string& line : wrap_text(fmt::format("{}: {}", variant, reason), kTextWidth - 4))
        out += "    " + line + '\n';
    }
  }
}

/// The expected gain of continuing; nothing if all variants were tried or the strategy has no estimate.
void append_expected(std::string& out, const space::TemplateSet& templates, const session::Answer& answer) {
  if (!answer.expected_missed || answer.complete) return;
  const auto percent = [](double share) { return fmt::format("{:.1f} %", 100 * share); };
  std::string what = templates.has_preset() ? "preset" : "space", gain = percent(*answer.expected_missed);
  if (templates.goes_beyond_presets() && answer.expected_missed_of_presets) {
    what = "presets";
    gain = fmt::format("{}, of the space {}", percent(*answer.expected_missed_of_presets), gain);
  }
  append_wrapped(out, fmt::format("Trying the rest of the {} is expected to gain {} (by what such searches missed in "
                                  "simulations).",
                                  what, gain));
}

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

/// "sgemm_tma; tile: BM=128 BN=256; pipeline: STAGES=3; the rest default": what differs from the template's defaults,
/// by what it is about.
std::string winner_text(const Variant& variant, const space::TemplateDefinition& definition) {
  std::map<std::string, std::vector<std::string>> groups;
  for (const space::Parameter& parameter : definition.parameters) {
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
std::string time_text(const SearchOutcome& outcome, const session::Answer& answer) {
  const session::RankedVariant& best = answer.best();
  std::string text = fmt::format("{} ms, {} {}", milliseconds_text(best.time_s),
                                 speed_text(outcome.problem, best.time_s), outcome.problem.speed_unit());
  StoredResult result;
  result.problem = outcome.problem;
  result.device = outcome.device.info;
  result.answer = answer;
  result.row.conditions_key = outcome.conditions.key();
  if (const auto roof = binding_roof(result, outcome.templates.of(best.variant), outcome.ceilings))
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

/// "sustained, settled samples, 1381 MHz (cuBLASLt 1393), ties under 0.50 %"
std::string measured_text(const session::Answer& answer, const Conditions& conditions) {
  std::string text = conditions == Conditions{} ? "sustained" : conditions_text(conditions);
  if (answer.from_final) text += answer.sampling == Sampling::kSettled ? ", settled samples" : ", short samples";
  const double clock_hz = answer.best().sm_clock_hz;
  if (clock_hz > 0 && answer.baseline_clock_hz > 0)
    text +=
        fmt::format(", {:.0f} MHz ({} {:.0f})", clock_hz / 1e6, baseline_name(answer), answer.baseline_clock_hz / 1e6);
  return text + fmt::format(", ties under {:.2f} %", 100 * answer.floor.margin);
}

/// "64 of 91,025 variants, and 3 that failed; the rest may gain 0.3 %"
std::string tried_text(const SearchOutcome& outcome, const session::Answer& answer) {
  const session::CountsRecord& counts = outcome.result.counts;
  std::int64_t failed = 0;
  for (const auto& [kind, count] : counts.failed) failed += count;
  std::string text = fmt::format("{} of {} variants", count_text(counts.measured), count_text(counts.valid));
  if (failed > 0) text += fmt::format(", and {} that failed", count_text(failed));
  const bool presets = outcome.templates.goes_beyond_presets() && answer.expected_missed_of_presets;
  const auto missed = presets ? answer.expected_missed_of_presets : answer.expected_missed;
  if (missed && !answer.complete) text += "; " + missed_text(*missed, presets, answer);
  return text;
}

/// What a user needs of a search that found something, in at most fifteen lines.
std::string brief_text(const SearchOutcome& outcome, const session::Answer& answer, const Terminal& terminal) {
  std::string out = terminal.styled(verdict_style(answer), headline_text(answer)) + '\n';
  append_wrapped(out, time_text(outcome, answer));
  const session::RankedVariant& best = answer.best();
  out += fact("winner", winner_text(best.variant, outcome.templates.of(best.variant)));
  constexpr std::size_t kLongestLabel = 9;
  const std::string name = baseline_name(answer);
  out += fact(name.size() <= kLongestLabel ? name.c_str() : "baseline",
              baseline_text(outcome.problem, outcome.result.baseline, answer));
  out += energy_facts(answer);
  out += fact("measured", measured_text(answer, outcome.conditions));
  out += fact("tried", tried_text(outcome, answer));
  if (outcome.recorded_by)
    out += fact("recorded", fmt::format("on another machine, {}, by pgtune {}; nothing was run here",
                                        answer.finished_at.substr(0, 10), *outcome.recorded_by));
  out += fact("version", versions_text(outcome.other_versions));
  if (answer.board != outcome.device.info.uuid)
    out += fact("board", fmt::format("measured on {}, another GPU of the class {}", answer.board,
                                     device_class(outcome.device.info).text()));
  const std::string options = problem_options_text(outcome.problem);
  const std::size_t notes = answer.notes.size();
  out += fact("details", fmt::format("pgtune show {}{}", options,
                                     notes > 0 ? fmt::format("  ({} note{})", notes, notes == 1 ? "" : "s") : ""));
  return out + fact("use it", "pgtune export header -o best.hpp");
}

}  // namespace

std::string result_text(const SearchOutcome& outcome, const Terminal& terminal) {
  const session::SearchResult& result = outcome.result;
  const bool verbose = terminal.verbosity() == Verbosity::kVerbose;
  const std::string title = fmt::format("{} on {}", outcome.problem.title(), outcome.device.info.name);
  std::string out =
      terminal.styled(Style::kBold, fmt::format("{}", fmt::join(wrap_text(title, kTextWidth), "\n"))) + '\n';
  if (result.answer) {
    out += brief_text(outcome, *result.answer, terminal);
  } else {
    const bool early = result.interrupted || result.budget_reached || result.gave_up;
    out += early ? "No valid variant was found before it ended.\n" : "No valid variant was found.\n";
  }
  if (verbose && result.answer)
    out += '\n' + best_table(outcome, *result.answer) + energy_table(outcome.problem, *result.answer) +
           answer_facts(*result.answer, outcome.conditions);
  if (outcome.counters) out += '\n' + counters_text(*outcome.counters);
  if (verbose || !result.answer) append_counts(out, result);
  if (verbose && result.answer) append_expected(out, outcome.templates, *result.answer);
  return out;
}

}  // namespace pgtune::tool
