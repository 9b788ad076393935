// SPDX-License-Identifier: MIT
#include "tuner/session/answer/answer_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tuner/model/json.hpp"
#include "tuner/util/json_fields.hpp"

namespace pgtune::session {
namespace {

using nlohmann::json;

/// A field of a later form, with its default where it is missing.
template <typename Value>
void read_later(const json& in, const char* field, Value& value) {
  value = in.value(field, Value{});
}

void read_pair(const json& pair, double& low, double& high) {
  pair.at(0).get_to(low);
  pair.at(1).get_to(high);
}

/// The fields BestRecord and RankedVariant share.
template <typename Record>
json measured_json(const Record& value) {
  return {{"variant", value.variant},
          {"build", value.build},
          {"time_s", value.time_s},
          {"tflops", value.tflops},
          {"ratio_to_baseline", value.ratio_to_baseline},
          {"ratio_interval", {value.ratio_low, value.ratio_high}},
          {"verdict", stats::to_string(value.verdict)}};
}

template <typename Record>
void read_measured(const json& in, Record& value) {
  in.at("variant").get_to(value.variant);
  in.at("build").get_to(value.build);
  in.at("time_s").get_to(value.time_s);
  in.at("tflops").get_to(value.tflops);
  in.at("ratio_to_baseline").get_to(value.ratio_to_baseline);
  read_pair(in.at("ratio_interval"), value.ratio_low, value.ratio_high);
  value.verdict = stats::Verdict::kUnclear;
  if (in.contains("verdict")) read_word(in, "verdict", value.verdict, stats::parse_verdict);
}

}  // namespace

void to_json(json& out, const CountsRecord& value) {
  json failed = json::object();
  for (const auto& [kind, count] : value.failed) failed[std::string(to_string(kind))] = count;
  out = {{"space", value.space},
         {"valid", value.valid},
         {"compiled", value.compiled},
         {"measured", value.measured},
         {"failed", std::move(failed)}};
}

void from_json(const json& in, CountsRecord& value) {
  in.at("space").get_to(value.space);
  in.at("valid").get_to(value.valid);
  in.at("compiled").get_to(value.compiled);
  in.at("measured").get_to(value.measured);
  value.failed.clear();
  const json& failed = in.at("failed");
  for (const auto& [name, count] : failed.items()) {
    const auto kind = enumerator_of<OutcomeKind>(name);
    if (!kind) throw json::other_error::create(501, fmt::format("unknown outcome \"{}\"", name), &failed);
    value.failed[*kind] = count.get<std::int64_t>();
  }
}

void to_json(json& out, const EnergySummary& value) {
  out = {{"windows", value.windows},
         {"energy_j", value.energy_j},
         {"energy_range_j", {value.low_j, value.high_j}},
         {"power_w", value.power_w},
         {"time_s", value.time_s},
         {"sm_clock_hz", value.sm_clock_hz},
         {"uncertainty", value.uncertainty},
         {"suspect", value.suspect},
         {"ratio_to_baseline", value.ratio_to_baseline},
         {"ratio_range", {value.ratio_low, value.ratio_high}}};
  write_optional(out, "power_cap_share", value.power_cap_share);
}

void from_json(const json& in, EnergySummary& value) {
  in.at("windows").get_to(value.windows);
  in.at("energy_j").get_to(value.energy_j);
  read_pair(in.at("energy_range_j"), value.low_j, value.high_j);
  in.at("power_w").get_to(value.power_w);
  in.at("time_s").get_to(value.time_s);
  in.at("sm_clock_hz").get_to(value.sm_clock_hz);
  in.at("uncertainty").get_to(value.uncertainty);
  in.at("suspect").get_to(value.suspect);
  in.at("ratio_to_baseline").get_to(value.ratio_to_baseline);
  read_pair(in.at("ratio_range"), value.ratio_low, value.ratio_high);
  read_optional(in, "power_cap_share", value.power_cap_share);
}

void to_json(json& out, const NoiseFloor& value) {
  out = {{"rounds", value.rounds}, {"half_width", value.half_width}, {"margin", value.margin}};
}

void from_json(const json& in, NoiseFloor& value) {
  in.at("rounds").get_to(value.rounds);
  in.at("half_width").get_to(value.half_width);
  in.at("margin").get_to(value.margin);
}

void to_json(json& out, const StageTimes& value) {
  out = {
      {"screen_s", value.screen_s}, {"floor_s", value.floor_s}, {"race_s", value.race_s}, {"final_s", value.final_s}};
}

void from_json(const json& in, StageTimes& value) {
  in.at("screen_s").get_to(value.screen_s);
  in.at("floor_s").get_to(value.floor_s);
  in.at("race_s").get_to(value.race_s);
  in.at("final_s").get_to(value.final_s);
}

void to_json(json& out, const RankedVariant& value) {
  out = measured_json(value);
  out["spread"] = value.spread;
  write_optional(out, "energy", value.energy);
  out["pareto"] = value.pareto;
}

void from_json(const json& in, RankedVariant& value) {
  read_measured(in, value);
  in.at("spread").get_to(value.spread);
  read_optional(in, "energy", value.energy);
  read_later(in, "pareto", value.pareto);
}

void to_json(json& out, const BestRecord& value) {
  out = measured_json(value);
  out["cycles_ratio"] = value.cycles_ratio;
  out["cycles_interval"] = {value.cycles_low, value.cycles_high};
  out["sm_clock_hz"] = value.sm_clock_hz;
  out["baseline_clock_hz"] = value.baseline_clock_hz;
  out["baseline_first_s"] = value.baseline_first_s;
  out["baseline_best_s"] = value.baseline_best_s;
  out["ties"] = value.ties;
}

void from_json(const json& in, BestRecord& value) {
  read_measured(in, value);
  read_later(in, "cycles_ratio", value.cycles_ratio);
  read_pair(in.value("cycles_interval", json::array({0, 0})), value.cycles_low, value.cycles_high);
  read_later(in, "sm_clock_hz", value.sm_clock_hz);
  read_later(in, "baseline_clock_hz", value.baseline_clock_hz);
  in.at("baseline_first_s").get_to(value.baseline_first_s);
  in.at("baseline_best_s").get_to(value.baseline_best_s);
  in.at("ties").get_to(value.ties);
}

void to_json(json& out, const StoredAnswer& value) {
  out = {{"best", value.best},
         {"ranking", value.ranking},
         {"baseline", value.baseline},
         {"counts", value.counts},
         {"complete", value.complete},
         {"from_final", value.from_final},
         {"finished_at", value.finished_at},
         {"objective", to_string(value.objective)},
         {"noise_floor", value.floor},
         {"stages", value.stages},
         {"raced", value.raced},
         {"voided_rounds", value.voided_rounds},
         {"notes", value.notes}};
  write_optional(out, "baseline_energy", value.baseline_energy);
  write_optional(out, "idle_power_w", value.idle_power_w);
}

void from_json(const json& in, StoredAnswer& value) {
  in.at("best").get_to(value.best);
  in.at("ranking").get_to(value.ranking);
  in.at("baseline").get_to(value.baseline);
  in.at("counts").get_to(value.counts);
  in.at("complete").get_to(value.complete);
  in.at("from_final").get_to(value.from_final);
  in.at("finished_at").get_to(value.finished_at);
  value.objective = Objective::kTime;
  if (in.contains("objective")) read_word(in, "objective", value.objective, parse_objective);
  read_later(in, "noise_floor", value.floor);
  read_later(in, "stages", value.stages);
  read_later(in, "raced", value.raced);
  read_later(in, "voided_rounds", value.voided_rounds);
  read_later(in, "notes", value.notes);
  read_optional(in, "baseline_energy", value.baseline_energy);
  read_optional(in, "idle_power_w", value.idle_power_w);
}

}  // namespace pgtune::session
