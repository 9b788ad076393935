// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/result_json.hpp"

#include <nlohmann/json.hpp>

#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/report/answer_text.hpp"
#include "tool/pgtune/report/counters_view.hpp"
#include "tool/pgtune/report/energy_view.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/model/json.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

json algorithm_json(const SearchOutcome& outcome, const BaselineReport& baseline, int index, double final_s) {
  if (index < 0 || static_cast<std::size_t>(index) >= baseline.algorithms.size()) return nullptr;
  const AlgorithmReport& algorithm = baseline.algorithms[static_cast<std::size_t>(index)];
  const double time_s = final_s > 0 ? final_s : algorithm.time_s;
  return {{"algorithm", algorithm.description},
          {"rank", algorithm.rank},
          {"time_s", time_s},
          {"tflops", time_s > 0 ? outcome.problem.flops() / time_s * 1e-12 : 0}};
}

json ranking_json(const SearchOutcome& outcome, const session::Answer& answer) {
  json out = json::array();
  for (const session::RankedVariant& ranked : answer.ranking)
    out.push_back(ranked_json(ranked, outcome.problem, answer.from_final));
  return out;
}

/// Facts on the answer's numbers.
void add_evidence(json& out, const SearchOutcome& outcome, const session::Answer& answer) {
  out["ranking"] = ranking_json(outcome, answer);
  out["from_final"] = answer.from_final;
  out["objective"] = to_string(answer.objective);
  if (answer.strategy) out["strategy"] = *answer.strategy;
  out["sampling"] = to_string(answer.sampling);
  out["lead_in_s"] = or_null(answer.lead_in_s);
  out["in_graphs"] = or_null(answer.in_graphs);
  out["noise"] = {{"rounds", answer.floor.rounds},
                  {"half_width", answer.floor.rounds > 0 ? json(answer.floor.half_width) : json(nullptr)},
                  {"margin", answer.floor.margin}};
  out["race"] = {
      {"raced", answer.raced}, {"finalists", answer.ranking.size()}, {"voided_rounds", answer.voided_rounds}};
  out["stages"] = {{"screen_s", answer.stages.screen_s},   {"floor_s", answer.stages.floor_s},
                   {"race_s", answer.stages.race_s},       {"final_s", answer.stages.final_s},
                   {"confirm_s", answer.stages.confirm_s}, {"verify_s", answer.stages.verify_s},
                   {"prepare_s", answer.stages.prepare_s}, {"steady_s", answer.stages.steady_s}};
  out["confirm_rounds"] = answer.confirm_rounds;
  out["notes"] = answer.notes;
  out["idle_power_w"] = or_null(answer.idle_power_w);
  out["baseline"]["best"]["energy"] = energy_json(answer.baseline_energy, outcome.problem);
  out["baseline"]["best"]["settled_energy"] = settled_energy_json(answer.baseline_settled_energy);
}

json templates_json(const space::TemplateSet& templates) {
  json out = json::array();
  for (const space::TemplateId& id : templates.ids()) out.push_back({{"name", id.name}, {"hash", id.content_hash}});
  return out;
}

json counts_json(const session::CountsRecord& counts) {
  json failed = json::object();
  for (const auto& [kind, count] : counts.failed) failed[std::string(to_string(kind))] = count;
  return {{"space", counts.space},
          {"valid", counts.valid},
          {"compiled", counts.compiled},
          {"measured", counts.measured},
          {"failed", failed}};
}

}  // namespace

json conditions_json(const Conditions& conditions) {
  json out = conditions;
  if (!(conditions.locked_sm_clock_hz > 0)) out["locked_sm_clock_hz"] = nullptr;
  out["key"] = conditions.key();
  return out;
}

json ranked_json(const session::RankedVariant& ranked, const Problem& problem, bool from_final) {
  const bool compared = ranked.ratio_to_baseline > 0, clocked = ranked.cycles_ratio > 0;
  return {{"template", ranked.variant.template_name},
          {"parameters", parameters_to_json(ranked.variant)},
          {"variant", ranked.variant.key()},
          {"time_s", ranked.time_s},
          {"tflops", ranked.tflops},
          {"spread", ranked.spread},
          {"ratio_to_baseline", compared ? json(ranked.ratio_to_baseline) : json(nullptr)},
          {"ratio_interval", compared ? json{ranked.ratio_low, ranked.ratio_high} : json(nullptr)},
          {"verdict", compared ? json(verdict_word(ranked, from_final)) : json(nullptr)},
          {"cycles_ratio", clocked ? json(ranked.cycles_ratio) : json(nullptr)},
          {"cycles_interval", clocked ? json{ranked.cycles_low, ranked.cycles_high} : json(nullptr)},
          {"sm_clock_hz", ranked.sm_clock_hz > 0 ? json(ranked.sm_clock_hz) : json(nullptr)},
          {"registers", ranked.build.registers},
          {"smem_bytes", or_null(ranked.smem_bytes)},
          {"energy", energy_json(ranked.energy, problem)},
          {"settled_energy", settled_energy_json(ranked.settled_energy)},
          {"pareto", ranked.energy ? json(ranked.pareto) : json(nullptr)}};
}

json best_json(const session::Answer& answer, const Problem& problem) {
  json out = ranked_json(answer.best(), problem, answer.from_final);
  out["baseline_clock_hz"] = answer.baseline_clock_hz > 0 ? json(answer.baseline_clock_hz) : json(nullptr);
  out["ties"] = answer.ties;
  return out;
}

json result_json(const SearchOutcome& outcome) {
  const session::SearchResult& result = outcome.result;
  const session::Answer* answer = result.answer ? &*result.answer : nullptr;
  const int best_algorithm = answer != nullptr ? answer->compared_algorithm(result.baseline) : result.baseline.best;
  json out = {
      {"schema", kJsonSchema},
      {"problem", outcome.problem},
      {"device", outcome.device.info},
      {"device_class", device_class(outcome.device.info).text()},
      {"measured_on", answer != nullptr ? json(answer->board) : json(nullptr)},
      {"this_board",
       answer != nullptr ? json(!outcome.recorded_by && answer->board == outcome.device.info.uuid) : json(nullptr)},
      {"source", source_word(outcome.device)},
      {"recorded", outcome.recorded_by ? json{{"finished_at", answer->finished_at}, {"pgtune", *outcome.recorded_by}}
                                       : json(nullptr)},
      {"conditions", conditions_json(outcome.conditions)},
      {"templates", templates_json(outcome.templates)},
      {"other_versions", other_versions_json(outcome.other_versions)},
      {"template_hash",
       answer != nullptr ? json(outcome.templates.of(answer->best().variant).content_hash) : json(nullptr)},
      {"best", answer != nullptr ? best_json(*answer, outcome.problem) : json(nullptr)},
      {"baseline",
       {{"library", result.baseline.library},
        {"first", algorithm_json(outcome, result.baseline, result.baseline.first,
                                 answer != nullptr ? answer->baseline_first_s : 0)},
        {"best",
         algorithm_json(outcome, result.baseline, best_algorithm, answer != nullptr ? answer->baseline_best_s : 0)}}},
      {"counts", counts_json(result.counts)},
      {"expected_missed", answer != nullptr ? or_null(answer->expected_missed) : json(nullptr)},
      {"expected_missed_of_presets", answer != nullptr && answer->expected_missed_of_presets
                                         ? json(*answer->expected_missed_of_presets)
                                         : json(nullptr)},
      {"complete",
       !result.interrupted && !result.budget_reached && !result.gave_up && (!result.answer || result.answer->complete)},
      {"from_database", result.from_store},
      {"elapsed_s", result.elapsed_s}};
  if (!result.baseline.copied.empty()) out["baseline"]["copied"] = result.baseline.copied;
  if (!result.baseline.others.empty()) out["baseline"]["others"] = result.baseline.others;
  if (result.answer) add_evidence(out, outcome, *result.answer);
  if (outcome.counters) out["counters"] = counters_json(*outcome.counters);
  return out;
}

}  // namespace pgtune::tool
