// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/result_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tool/pgtune/cli/catalogue.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"
#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/report/answer_text.hpp"
#include "tool/pgtune/report/brief_text.hpp"
#include "tool/pgtune/report/counters_view.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/session/pipeline/quarantine.hpp"
#include "tuner/util/count_text.hpp"

namespace pgtune::tool {
namespace {

constexpr std::size_t kShownVariants = 5;

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

/// The option that names what is not built in; empty where all is.
std::string own_file_option(const Problem& problem, const Variant& winner) {
  if (Catalogue().templates_of(problem.operation_name()).empty()) return fmt::format(" --operation {}", kNobodysFile);
  return Catalogue().selector_of(winner.template_name, problem) == kNobodysFile
             ? fmt::format(" --template {}", kNobodysFile)
             : "";
}

/// What a user needs of a search that found something, in at most fifteen lines.
std::string brief_text(const SearchOutcome& outcome, const session::Answer& answer, const Terminal& terminal) {
  const std::size_t width = text_width(terminal);
  const AnswerView view{outcome.problem,
                        outcome.templates,
                        outcome.device.info,
                        outcome.conditions,
                        outcome.ceilings,
                        outcome.result.baseline,
                        answer,
                        !outcome.other_versions.empty()};
  std::string out = verdict_lines(view, terminal);
  out += fact("winner", winner_text(answer.best().variant, outcome.templates), width);
  out += measured_facts(view, terminal);
  out += fact("tried", tried_text(outcome, answer), width);
  if (outcome.recorded_by)
    out += fact("recorded",
                fmt::format("on another machine, {}, by pgtune {}; nothing was run here",
                            answer.finished_at.substr(0, 10), *outcome.recorded_by),
                width);
  out += fact("version", versions_text(outcome.other_versions), width);
  if (answer.board != outcome.device.info.uuid)
    out += fact("board",
                fmt::format("measured on {}, another GPU of the class {}", answer.board,
                            device_class(outcome.device.info).text()),
                width);
  // Whole, so that they can be copied.
  const std::string notes = notes_text(answer);
  std::string details =
      fmt::format("details   pgtune show {}{}", problem_options_text(outcome.problem), outcome.database_option);
  if (details.size() + notes.size() > width && !notes.empty()) details += "\n        ";
  out += details + notes + '\n';
  if (outcome.problem.chained) return out;  // no header launches so
  return out + fmt::format("use it    pgtune export header -o best.hpp{}{}\n",
                           own_file_option(outcome.problem, answer.best().variant), outcome.database_option);
}

}  // namespace

std::string result_text(const SearchOutcome& outcome, const Terminal& terminal) {
  const session::SearchResult& result = outcome.result;
  const bool verbose = terminal.verbosity() == Verbosity::kVerbose;
  const std::string title = fmt::format("{} on {}", outcome.problem.title(), outcome.device.info.name);
  std::string out =
      terminal.styled(Style::kBold, fmt::format("{}", fmt::join(wrap_text(title, text_width(terminal)), "\n"))) + '\n';
  if (result.answer) {
    out += brief_text(outcome, *result.answer, terminal);
  } else {
    const bool early = result.interrupted || result.budget_reached || result.gave_up;
    out += early ? "No valid variant was found before it ended.\n" : "No valid variant was found.\n";
    if (session::has_fatal_trials(result.counts))
      out += "What crashed or hung is not tried again here without --retry-failed.\n";
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
