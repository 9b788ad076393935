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
#include "tool/pgtune/report/counters_view.hpp"
#include "tool/pgtune/report/energy_view.hpp"
#include "tool/pgtune/report/result_json.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/model/json.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

std::string stored_ratio(const session::RankedVariant* stored) {
  if (stored == nullptr) return "-";
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

std::string comparison_table(std::string_view baseline, const std::vector<BenchComparison>& compared) {
  TextTable times({{"kernel"},
                   {"ms now", Align::kRight},
                   {"stored", Align::kRight},
                   {fmt::format("x {} best now", baseline)},
                   {"stored"},
                   {"result"}});
  TextTable variants({{"#", Align::kRight}, {"variant", Align::kLeft, Wrap::kWords}});
  int place = 0;
  for (const BenchComparison& comparison : compared) {
    const session::RankedVariant& now = *comparison.now;
    const std::string number = std::to_string(++place);
    times.add_row({"#" + number, milliseconds_text(now.time_s),
                   comparison.stored == nullptr ? "-" : milliseconds_text(comparison.stored->time_s),
                   ratio_text(now.ratio_to_baseline, now.ratio_low, now.ratio_high), stored_ratio(comparison.stored),
                   std::string(to_string(comparison.held.held))});
    variants.add_row({number, now.variant.key()});
  }
  return times.text() + '\n' + variants.text() + '\n';
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
  const std::string title = fmt::format("{} with {}, measured{}", outcome.problem.title(), outcome.templates.title(),
                                        outcome.chosen.stored.empty() ? "" : " again");
  std::string out =
      terminal.styled(Style::kBold, fmt::format("{}", fmt::join(wrap_text(title, kTextWidth), "\n"))) + '\n';
  for (const std::string& line : wrap_text(outcome.device.description, kTextWidth)) out += line + '\n';
  const std::vector<BenchComparison> compared = comparisons(outcome);
  if (outcome.result.answer) {
    out += comparison_table(baseline_name(*outcome.result.answer), compared) +
           energy_table(outcome.problem, *outcome.result.answer);
    int place = 0;
    for (const BenchComparison& comparison : compared)
      out += fact(fmt::format("#{}", ++place).c_str(), comparison.held.sentence);
    if (outcome.stored) out += fact("stored", outcome.stored->finished_at);
    out += fact("boards", boards_text(outcome, compared));
    out += answer_facts(*outcome.result.answer, outcome.conditions);
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
    out["lead_in_s"] = answer->lead_in_s ? json(*answer->lead_in_s) : json(nullptr);
    out["in_graphs"] = answer->in_graphs ? json(*answer->in_graphs) : json(nullptr);
    out["voided_rounds"] = answer->voided_rounds;
    out["notes"] = answer->notes;
    out["baseline"] = {{"library", outcome.result.baseline.library},
                       {"first_time_s", answer->baseline_first_s},
                       {"best_time_s", answer->baseline_best_s},
                       {"best_time_to_stored", ratio_json(baseline_time_ratio(outcome))},
                       {"energy", energy_json(answer->baseline_energy, outcome.problem)},
                       {"settled_energy", settled_energy_json(answer->baseline_settled_energy)}};
    if (outcome.counters) out["counters"] = counters_json(*outcome.counters);
    out["idle_power_w"] = answer->idle_power_w ? json(*answer->idle_power_w) : json(nullptr);
  }
  return out;
}

}  // namespace pgtune::tool
