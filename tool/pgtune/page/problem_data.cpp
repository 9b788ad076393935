// SPDX-License-Identifier: MIT
#include "tool/pgtune/page/page_data.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/report/answer_text.hpp"
#include "tool/pgtune/report/counters_view.hpp"
#include "tool/pgtune/report/energy_view.hpp"
#include "tool/pgtune/report/result_columns.hpp"
#include "tool/pgtune/report/speed_report.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/session/answer/answered.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

constexpr double kMicro = 1e6, kMilli = 1e3, kTeraflop = 1e12;

/// Joules of one launch, from windows if measured, else from settled samples; 0 without either.
double energy_j(const std::optional<session::EnergySummary>& windows,
                const std::optional<session::SettledEnergy>& settled) {
  if (windows && windows->energy_j > 0) return windows->energy_j;
  return settled ? settled->energy_j : 0;
}

/// The winner's energy against the baseline's: [ratio, low, high], > 1 needs less. null if not compared.
json energy_ratio(const session::RankedVariant& best) {
  const auto triple = [](const auto& energy) {
    return json{compact(energy.ratio_to_baseline), compact(energy.ratio_low), compact(energy.ratio_high)};
  };
  if (best.energy && best.energy->ratio_to_baseline > 0) return triple(*best.energy);
  if (best.settled_energy && best.settled_energy->ratio_to_baseline > 0) return triple(*best.settled_energy);
  return nullptr;
}

/// The parameters in which a finalist differs from the winner; all if its template differs.
std::string difference(const Variant& winner, const Variant& other) {
  if (winner.template_name != other.template_name) return other.id();
  std::string text;
  for (const Assignment& assignment : other.parameters) {
    const ParameterValue* const of_winner = winner.find(assignment.name);
    if (of_winner != nullptr && *of_winner == assignment.value) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", assignment.name, to_string(assignment.value));
  }
  return text;
}

json ranking_data(const session::Answer& answer, SharedTexts& texts) {
  json rows = json::array();
  for (const session::RankedVariant& ranked : answer.ranking) {
    const bool winner = &ranked == &answer.best();
    rows.push_back({texts.number_of(winner ? "" : difference(answer.best().variant, ranked.variant)),
                    compact(ranked.time_s * kMicro), compact(ranked.tflops), compact_positive(ranked.ratio_to_baseline),
                    compact_positive(ranked.ratio_low), compact_positive(ranked.ratio_high), ranked.build.registers,
                    or_null(ranked.smem_bytes), ranked.build.spill_bytes, ranked.build.local_bytes,
                    compact_positive(ranked.sm_clock_hz / kMicro, 4),
                    compact_positive(energy_j(ranked.energy, ranked.settled_energy) * kMilli), ranked.pareto ? 1 : 0});
  }
  return rows;
}

json roof_data(const RooflinePoint& point, SharedTexts& texts) {
  const auto optional = [](const std::optional<double>& value) { return value ? compact(*value) : json(nullptr); };
  json data = {{"dram", optional(point.intensity(point.dram))},
               {"l2", optional(point.intensity(point.l2))},
               {"lowest", point.roof},
               {"share", optional(point.share)}};
  if (!point.above.empty()) data["above"] = texts.number_of(point.above);
  if (!point.counters) return data;
  // Only if some contender has counters, so that a page of hundreds of problems does not grow by nulls.
  data["smem"] = optional(point.intensity(point.smem));
  data["base"] = {optional(point.intensity(point.baseline_dram)), optional(point.intensity(point.baseline_l2)),
                  optional(point.intensity(point.baseline_smem))};
  data["measured"] = {point.dram.measured ? 1 : 0, point.l2.measured ? 1 : 0, point.smem.measured ? 1 : 0};
  return data;
}

/// The baseline's best algorithm, with its time as variants are screened; of no name where there is none.
AlgorithmReport best_algorithm(const BaselineReport& baseline) {
  const auto best = static_cast<std::size_t>(baseline.best);
  return best < baseline.algorithms.size() ? baseline.algorithms[best] : AlgorithmReport{};
}

std::string marks(const StoredResult& result) { return std::string(is_recorded(result) ? "*" : ""); }

/// Rows of a label and a text; empty ones are left out.
class Facts {
 public:
  explicit Facts(SharedTexts& texts) : texts_(texts) {}
  void add(const char* what, const std::string& text) {
    if (!text.empty()) rows_.push_back({what, texts_.number_of(text)});
  }
  [[nodiscard]] json rows() const { return rows_; }

 private:
  SharedTexts& texts_;
  json rows_ = json::array();
};

}  // namespace

json ranking_columns() {
  return {"variant", "us",    "tflops", "ratio", "low", "high",  "registers",
          "smem",    "spill", "local",  "mhz",   "mj",  "pareto"};
}

json problem_data(const StoredResult& result, const RooflinePoint& point, SharedTexts& texts) {
  const Problem& problem = result.problem;
  const session::Answer& answer = result.answer;
  const session::RankedVariant& best = answer.best();
  const SpeedFigures figures = speed_figures(result);
  const AlgorithmReport base_algorithm = best_algorithm(answer.baseline);
  const double baseline_s = answer.baseline_best_s;
  return {{"title", problem.title()},
          {"marks", marks(result)},
          {"kind", problem.kind()},
          {"baseline", baseline_name(answer)},
          {"flop", compact(problem.flops())},
          {"bytes", compact(problem.traffic_bytes())},
          {"template", best.variant.template_name},
          {"variant", texts.number_of(best.variant.key())},
          {"cubin", best.build.cubin_hash.substr(0, 16)},
          {"us", compact(best.time_s * kMicro)},
          {"tflops", compact(best.tflops)},
          {"base_us", compact_positive(baseline_s * kMicro)},
          {"base_tflops", baseline_s > 0 ? compact(problem.flops() / baseline_s / kTeraflop) : json(nullptr)},
          {"base_screened_us", compact_positive(base_algorithm.time_s * kMicro)},
          {"base_algorithm", texts.number_of(base_algorithm.description)},
          {"first_us", compact_positive(answer.baseline_first_s * kMicro)},
          {"ratio", compact_positive(best.ratio_to_baseline)},
          {"low", compact_positive(best.ratio_low)},
          {"high", compact_positive(best.ratio_high)},
          {"first_ratio", compact_positive(figures.percent_of_first / 100)},
          {"verdict", verdict_word(best, answer.from_final)},
          {"finished", result.row.finished_at},
          {"commands",
           {fmt::format("pgtune search {}{}", problem_options(result), condition_options(result)),
            fmt::format("pgtune export header {} -o best.hpp", problem_options(result))}},
          {"base_mhz", compact_positive(answer.baseline_clock_hz / kMicro, 4)},
          {"base_mj", compact_positive(energy_j(answer.baseline_energy, answer.baseline_settled_energy) * kMilli)},
          {"energy", energy_ratio(best)},
          {"roof", roof_data(point, texts)},
          {"ranking", ranking_data(answer, texts)}};
}

json counters_data(const CounterReport& report, SharedTexts& texts) {
  const CounterTable table = counter_table(report);
  json rows = json::array(), why = json::array();
  for (const CounterTable::Row& row : table.rows) {
    json cells = {texts.number_of(row.title)};
    for (const std::string& cell : row.cells) cells.push_back(cell);
    rows.push_back(std::move(cells));
  }
  for (const std::vector<std::string>& lines : table.why) {
    json numbers = json::array();
    for (const std::string& line : lines) numbers.push_back(texts.number_of(line));
    why.push_back(std::move(numbers));
  }
  return {{"names", table.names}, {"rows", std::move(rows)}, {"why", std::move(why)}};
}

json judgement_data(const StoredResult& result, SharedTexts& texts) {
  const session::Answer& answer = result.answer;
  const session::RankedVariant& best = answer.best();
  Facts facts(texts);
  facts.add("verdict", verdict_text(best, answer.floor.margin, answer.from_final, baseline_name(answer)));
  for (const std::string& step : explain_verdict(answer, result.conditions)) facts.add("why", step);
  if (best.energy && answer.baseline_energy)
    facts.add("energy", energy_verdict(*best.energy, *answer.baseline_energy, baseline_name(answer)));
  if (best.settled_energy && answer.baseline_settled_energy)
    facts.add("joules",
              settled_energy_text(*best.settled_energy, *answer.baseline_settled_energy, baseline_name(answer)));
  for (const OtherBaseline& other : answer.baseline.others) {
    if (other.time_s > 0) facts.add("beside", beside_text(other));  // the notes have the others
  }
  facts.add("clocks", clocks_text(answer));
  facts.add("regime", conditions_text(result.conditions));
  for (const std::string& note : answer.notes) facts.add("note", note);
  return facts.rows();
}

json provenance_data(const StoredResult& result, const db::SessionRow& session, const db::Program& program,
                     SharedTexts& texts) {
  const DeviceInfo& device = result.device;
  Facts facts(texts);
  facts.add("source", is_recorded(result) ? "recorded on another machine" : "measured on this GPU");
  facts.add("GPU", device_class(device).text());
  facts.add("board", device.uuid);
  facts.add("driver", device.driver_version);
  facts.add("NVRTC", device.nvrtc_version);
  facts.add("baseline", result.answer.baseline.library);
  facts.add("pgtune", program.version);
  facts.add("host", program.host_os);
  facts.add("session", session.uid);
  facts.add("command", session.command_line);
  facts.add("seed", std::to_string(session.seed));
  facts.add("template", fmt::format("{}, {}", result.row.variant_origin.name, result.row.variant_origin.content_hash));
  facts.add("conditions", result.row.conditions_key);
  facts.add("whole", result.answer.complete               ? "yes"
                     : session::has_enough(result.answer) ? "no: ended when little was left to gain"
                                                          : "no: stopped before every variant was tried");
  return facts.rows();
}

}  // namespace pgtune::tool
