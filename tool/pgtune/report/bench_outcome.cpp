// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/bench_outcome.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/report/answer_text.hpp"
#include "tool/pgtune/report/brief_text.hpp"
#include "tool/pgtune/report/counters_view.hpp"
#include "tool/pgtune/report/energy_view.hpp"
#include "tool/pgtune/report/result_json.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/model/json.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

std::string stored_ratio(const session::RankedVariant* stored) {
  if (stored == nullptr) return "";
  return stored->ratio_to_baseline > 0 ? ratio_text(stored->ratio_to_baseline, stored->ratio_low, stored->ratio_high)
                                       : "not in a final";
}

/// Whether the stored result is from another board than the present one.
bool stored_elsewhere(const BenchOutcome& outcome) {
  return outcome.stored && outcome.stored->board != outcome.device.info.uuid;
}

/// "3.1 % longer" or "0.4 % less" of a time that is `ratio` times another.
std::string longer_text(double ratio) {
  const double percent = 100 * (ratio - 1);
  return percent < 0 ? fmt::format("{:.1f} % less", -percent) : fmt::format("{:.1f} % longer", percent);
}

double time_ratio(double now_s, double stored_s) { return stored_s > 0 ? now_s / stored_s : 0; }

/// 0 if nothing is stored; likewise in the next function.
double time_ratio(const BenchComparison& compared) {
  return compared.stored == nullptr ? 0 : time_ratio(compared.now->time_s, compared.stored->time_s);
}

double baseline_time_ratio(const BenchOutcome& outcome) {
  return outcome.stored ? time_ratio(outcome.result.answer->baseline_best_s, outcome.stored->baseline_best_s) : 0;
}

json ratio_json(double ratio) { return ratio > 0 ? json(ratio) : json(nullptr); }

/// The difference between the present board and the stored result's; empty if they are the same.
std::string boards_text(const BenchOutcome& outcome, const std::vector<BenchComparison>& compared) {
  if (!stored_elsewhere(outcome)) return {};
  std::vector<std::string> parts;
  if (const double ratio = baseline_time_ratio(outcome); ratio > 0)
    parts.push_back(fmt::format("{}'s best takes {}", baseline_name(*outcome.result.answer), longer_text(ratio)));
  int place = 0;
  for (const BenchComparison& comparison : compared) {
    ++place;
    if (const double ratio = time_ratio(comparison); ratio > 0)
      parts.push_back(fmt::format("#{} {}", place, longer_text(ratio)));
  }
  return fmt::format("another GPU of this class was stored, {}; on this one {}", outcome.stored->board,
                     fmt::join(parts, ", "));
}

std::string comparison_table(std::string_view baseline, const std::vector<BenchComparison>& compared,
                             const Terminal& terminal) {
  TextTable times({{"kernel"},
                   {"ms now", Align::kRight},
                   {.title = "stored", .align = Align::kRight, .left_out = 2},
                   {fmt::format("x {} best now", baseline)},
                   {.title = "stored", .left_out = 1},
                   {"result"}});
  int place = 0;
  for (const BenchComparison& comparison : compared) {
    const session::RankedVariant& now = *comparison.now;
    times.add_row({fmt::format("#{}", ++place), milliseconds_text(now.time_s),
                   comparison.stored == nullptr ? "" : milliseconds_text(comparison.stored->time_s),
                   ratio_text(now.ratio_to_baseline, now.ratio_low, now.ratio_high), stored_ratio(comparison.stored),
                   std::string(to_string(comparison.held.held))},
                  held_style(comparison.held.held));
  }
  return times.text(terminal);
}

/// Whether what was stored holds: of one variant a sentence, of several a table.
std::string compared_text(const BenchOutcome& outcome, const std::vector<BenchComparison>& compared,
                          const Terminal& terminal) {
  if (compared.size() > 1) return comparison_table(baseline_name(*outcome.result.answer), compared, terminal);
  std::string out;
  for (const BenchComparison& one : compared) {
    for (const std::string& line : wrap_text(one.held.sentence, text_width(terminal)))
      out += terminal.styled(held_style(one.held.held), line) + '\n';
  }
  return out;
}

/// What a user needs of a bench, about as long as a search's.
std::string brief_text(const BenchOutcome& outcome, const std::vector<BenchComparison>& compared,
                       const Terminal& terminal) {
  const session::Answer& answer = *outcome.result.answer;
  const std::size_t width = text_width(terminal);
  const AnswerView view{outcome.problem,
                        outcome.templates,
                        outcome.device.info,
                        outcome.conditions,
                        outcome.ceilings,
                        outcome.result.baseline,
                        answer};
  std::string out = verdict_lines(view, terminal) + compared_text(outcome, compared, terminal);
  int place = 0;
  for (const BenchComparison& one : compared)
    out += fact(compared.size() == 1 ? "variant" : fmt::format("#{}", ++place).c_str(),
                winner_text(one.now->variant, outcome.templates), width);
  out += measured_facts(view, terminal);
  if (outcome.stored) out += fact("stored", outcome.stored->finished_at, width);
  out += fact("boards", boards_text(outcome, compared), width);
  return out +
         fact("details", fmt::format("--verbose prints keys and all that was measured{}", notes_text(answer)), width);
}

/// The rest of what is known, with --verbose.
std::string verbose_text(const BenchOutcome& outcome, const std::vector<BenchComparison>& compared,
                         const Terminal& terminal) {
  const session::Answer& answer = *outcome.result.answer;
  std::string out = '\n' + comparison_table(baseline_name(answer), compared, terminal);
  int place = 0;
  for (const BenchComparison& one : compared) {
    const std::string number = fmt::format("#{}", ++place);
    out += fact(number.c_str(), one.now->variant.key()) + fact("", one.held.sentence);
  }
  return out + '\n' + energy_table(outcome.problem, answer) + answer_facts(answer, outcome.conditions);
}

}  // namespace

std::vector<BenchComparison> comparisons(const BenchOutcome& outcome) {
  std::vector<BenchComparison> out;
  if (!outcome.result.answer) return out;
  const double margin =
      std::max(outcome.stored ? outcome.stored->floor.margin : 0, outcome.result.answer->floor.margin);
  const std::vector<session::RankedVariant>& known = outcome.chosen.stored;
  for (const session::RankedVariant& now : outcome.result.answer->ranking) {
    const auto stored = std::find_if(known.begin(), known.end(),
                                     [&](const session::RankedVariant& row) { return row.variant == now.variant; });
    if (stored == known.end()) {
      out.push_back({nullptr, &now, session::measured_first(now)});
    } else {
      out.push_back({&*stored, &now, session::held(*stored, now, margin)});
    }
  }
  return out;
}

std::string bench_text(const BenchOutcome& outcome, const Terminal& terminal) {
  const std::string title = fmt::format("{} on {}, measured{}", outcome.problem.title(), outcome.device.info.name,
                                        outcome.chosen.stored.empty() ? "" : " again");
  std::string out =
      terminal.styled(Style::kBold, fmt::format("{}", fmt::join(wrap_text(title, text_width(terminal)), "\n"))) + '\n';
  if (outcome.result.answer) {
    const std::vector<BenchComparison> compared = comparisons(outcome);
    out += brief_text(outcome, compared, terminal);
    if (terminal.verbosity() == Verbosity::kVerbose) out += verbose_text(outcome, compared, terminal);
    if (outcome.counters) out += '\n' + counters_text(*outcome.counters);
  }
  for (const auto& [variant, reason] : outcome.result.failed)
    out += fact("failed", fmt::format("{}: {}: {}", variant.key(), to_string(reason.kind), reason.reason));
  return out;
}

json bench_json(const BenchOutcome& outcome) {
  json variants = json::array();
  const bool whole = outcome.result.answer && outcome.result.answer->from_final;
  const bool stored_whole = !outcome.stored || outcome.stored->from_final;
  for (const BenchComparison& comparison : comparisons(outcome))
    variants.push_back(
        {{"variant", comparison.now->variant.key()},
         {"stored", comparison.stored == nullptr ? json(nullptr)
                                                 : ranked_json(*comparison.stored, outcome.problem, stored_whole)},
         {"now", ranked_json(*comparison.now, outcome.problem, whole)},
         {"time_to_stored", ratio_json(time_ratio(comparison))},
         {"held", to_string(comparison.held.held)},
         {"summary", comparison.held.sentence}});
  json failed = json::array();
  for (const auto& [variant, reason] : outcome.result.failed)
    failed.push_back({{"variant", variant.key()}, {"outcome", reason}});
  json out = {{"schema", kJsonSchema},
              {"problem", outcome.problem},
              {"device", outcome.device.info},
              {"device_class", device_class(outcome.device.info).text()},
              {"stored_on", outcome.stored ? json(outcome.stored->board) : json(nullptr)},
              {"this_board", !stored_elsewhere(outcome)},
              {"source", source_word(outcome.device)},
              {"template", outcome.templates.id().name},
              {"conditions", conditions_json(outcome.conditions)},
              {"stored_at", outcome.stored ? json(outcome.stored->finished_at) : json(nullptr)},
              {"stored_sampling", outcome.stored ? json(to_string(outcome.stored->sampling)) : json(nullptr)},
              {"variants", std::move(variants)},
              {"failed", std::move(failed)},
              {"complete", outcome.result.answer && outcome.result.answer->complete},
              {"elapsed_s", outcome.result.elapsed_s}};
  if (const auto& answer = outcome.result.answer) {
    out["noise"] = {{"rounds", answer->floor.rounds},
                    {"half_width", answer->floor.rounds > 0 ? json(answer->floor.half_width) : json(nullptr)},
                    {"margin", answer->floor.margin}};
    out["sampling"] = to_string(answer->sampling);
    out["lead_in_s"] = or_null(answer->lead_in_s);
    out["in_graphs"] = or_null(answer->in_graphs);
    out["voided_rounds"] = answer->voided_rounds;
    out["notes"] = answer->notes;
    out["baseline"] = {{"library", outcome.result.baseline.library},
                       {"first_time_s", answer->baseline_first_s},
                       {"best_time_s", answer->baseline_best_s},
                       {"best_time_to_stored", ratio_json(baseline_time_ratio(outcome))},
                       {"energy", energy_json(answer->baseline_energy, outcome.problem)},
                       {"settled_energy", settled_energy_json(answer->baseline_settled_energy)}};
    if (outcome.counters) out["counters"] = counters_json(*outcome.counters);
    out["idle_power_w"] = or_null(answer->idle_power_w);
  }
  return out;
}

}  // namespace pgtune::tool
