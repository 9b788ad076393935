// SPDX-License-Identifier: MIT
// What was found: devices, builds, samples, baselines, trials, conditions, energy.
#include <concepts>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "tuner/model/json.hpp"
#include "tuner/util/json_fields.hpp"

namespace pgtune {
namespace {

using nlohmann::json;

// Flat records: one list of fields serves both directions (Record is const when writing).
template <typename Visit, typename Record>
requires std::same_as<std::remove_const_t<Record>, DeviceInfo>
void visit_fields(Record& record, const Visit& visit) {
  visit("uuid", record.uuid);
  visit("name", record.name);
  visit("architecture", record.architecture);
  visit("compute_major", record.compute_major);
  visit("compute_minor", record.compute_minor);
  visit("sm_count", record.sm_count);
  visit("memory_bytes", record.memory_bytes);
  visit("l2_bytes", record.l2_bytes);
  visit("smem_per_block_bytes", record.smem_per_block_bytes);
  visit("smem_per_sm_bytes", record.smem_per_sm_bytes);
  visit("registers_per_sm", record.registers_per_sm);
  visit("threads_per_sm", record.threads_per_sm);
  visit("max_sm_clock_hz", record.max_sm_clock_hz);
  visit("power_limit_w", record.power_limit_w);
  visit("driver_version", record.driver_version);
  visit("nvrtc_version", record.nvrtc_version);
  visit("cublaslt_version", record.cublaslt_version);
}

template <typename Visit, typename Record>
requires std::same_as<std::remove_const_t<Record>, BuildInfo>
void visit_fields(Record& record, const Visit& visit) {
  visit("cubin_path", record.cubin_path);
  visit("cubin_hash", record.cubin_hash);
  visit("key_hash", record.key_hash);
  visit("registers", record.registers);
  visit("static_smem_bytes", record.static_smem_bytes);
  visit("local_bytes", record.local_bytes);
  visit("spill_bytes", record.spill_bytes);
  visit("compile_s", record.compile_s);
  visit("cached", record.cached);
}

template <typename Visit, typename Record>
requires std::same_as<std::remove_const_t<Record>, BaselineAlgorithm>
void visit_fields(Record& record, const Visit& visit) {
  visit("rank", record.rank);
  visit("description", record.description);
  visit("workspace_bytes", record.workspace_bytes);
  visit("time_s", record.time_s);
  visit("max_error", record.max_error);
}

template <typename Visit, typename Record>
requires std::same_as<std::remove_const_t<Record>, BaselineReport>
void visit_fields(Record& record, const Visit& visit) {
  visit("library", record.library);
  visit("algorithms", record.algorithms);
  visit("first", record.first);
  visit("best", record.best);
  visit("buffer_copies", record.buffer_copies);
  visit("data_seed", record.data_seed);
}

template <typename Visit, typename Record>
requires std::same_as<std::remove_const_t<Record>, CheckReport>
void visit_fields(Record& record, const Visit& visit) {
  visit("max_error", record.max_error);
  visit("norm_error", record.norm_error);
}

template <typename Visit, typename Record>
requires std::same_as<std::remove_const_t<Record>, EnergyWindow>
void visit_fields(Record& record, const Visit& visit) {
  visit("window_s", record.window_s);
  visit("energy_j", record.energy_j);
  visit("steps", record.steps);
  visit("step_s", record.step_s);
  visit("uncertainty", record.uncertainty);
  visit("averaged_power_w", record.averaged_power_w);
  visit("launches", record.launches);
  visit("per_launch_s", record.per_launch_s);
  visit("sm_clock_hz", record.sm_clock_hz);
  visit("temperature_start_c", record.temperature_start_c);
  visit("temperature_end_c", record.temperature_end_c);
}

template <typename Visit, typename Record>
requires std::same_as<std::remove_const_t<Record>, Ceilings>
void visit_fields(Record& record, const Visit& visit) {
  visit("dram_bytes_per_s", record.dram_bytes_per_s);
  visit("l2_bytes_per_s", record.l2_bytes_per_s);
  visit("flops", record.flops);
  visit("sm_clock_hz", record.sm_clock_hz);
}

template <typename Record>
void write_fields(json& out, const Record& record) {
  out = json::object();
  visit_fields(record, [&](const char* name, const auto& field) { out[name] = field; });
}

template <typename Record>
void read_fields(const json& in, Record& record) {
  visit_fields(record, [&](const char* name, auto& field) { in.at(name).get_to(field); });
}

}  // namespace

void to_json(json& out, const DeviceInfo& value) { write_fields(out, value); }
void from_json(const json& in, DeviceInfo& value) { read_fields(in, value); }
void to_json(json& out, const BuildInfo& value) { write_fields(out, value); }
void from_json(const json& in, BuildInfo& value) { read_fields(in, value); }
void to_json(json& out, const BaselineAlgorithm& value) { write_fields(out, value); }
void from_json(const json& in, BaselineAlgorithm& value) { read_fields(in, value); }
void to_json(json& out, const BaselineReport& value) {
  write_fields(out, value);
  if (!value.enlarged_shape.empty()) out["enlarged_shape"] = value.enlarged_shape;
}
void from_json(const json& in, BaselineReport& value) {
  read_fields(in, value);
  value.enlarged_shape = in.value("enlarged_shape", std::string());
}
static void to_json(json& out, const CheckReport& value) { write_fields(out, value); }
static void from_json(const json& in, CheckReport& value) { read_fields(in, value); }

void to_json(json& out, const Sample& value) {
  out = {{"stage", to_string(value.stage)},
         {"round", value.round},
         {"position", value.position},
         {"launches", value.launches},
         {"time_s", value.time_s},
         {"sm_clock_hz", value.sm_clock_hz},
         {"graph", value.graph}};
  write_optional(out, "temperature_c", value.temperature_c);
  write_optional(out, "power_cap_s", value.power_cap_s);
  write_optional(out, "thermal_s", value.thermal_s);
}

void from_json(const json& in, Sample& value) {
  read_word(in, "stage", value.stage, parse_stage);
  in.at("round").get_to(value.round);
  in.at("position").get_to(value.position);
  in.at("launches").get_to(value.launches);
  in.at("time_s").get_to(value.time_s);
  in.at("sm_clock_hz").get_to(value.sm_clock_hz);
  in.at("graph").get_to(value.graph);
  read_optional(in, "temperature_c", value.temperature_c);
  read_optional(in, "power_cap_s", value.power_cap_s);
  read_optional(in, "thermal_s", value.thermal_s);
}

void to_json(json& out, const Conditions& value) {
  out = {{"regime", to_string(value.regime)},
         {"l2", to_string(value.l2)},
         {"data", to_string(value.data)},
         {"data_seed", value.data_seed},
         {"locked_sm_clock_hz", value.locked_sm_clock_hz}};
}

void from_json(const json& in, Conditions& value) {
  read_word(in, "regime", value.regime, parse_regime);
  read_word(in, "l2", value.l2, parse_l2_state);
  read_word(in, "data", value.data, parse_data_distribution);
  in.at("data_seed").get_to(value.data_seed);
  in.at("locked_sm_clock_hz").get_to(value.locked_sm_clock_hz);
}

void to_json(json& out, const EnergyWindow& value) {
  write_fields(out, value);
  write_optional(out, "power_cap_share", value.power_cap_share);
  write_optional(out, "thermal_share", value.thermal_share);
}

void from_json(const json& in, EnergyWindow& value) {
  read_fields(in, value);
  read_optional(in, "power_cap_share", value.power_cap_share);
  read_optional(in, "thermal_share", value.thermal_share);
}

void to_json(json& out, const Ceilings& value) { write_fields(out, value); }
void from_json(const json& in, Ceilings& value) { read_fields(in, value); }

void to_json(json& out, const Outcome& value) { out = {{"kind", to_string(value.kind)}, {"reason", value.reason}}; }

void from_json(const json& in, Outcome& value) {
  read_word(in, "kind", value.kind, parse_outcome_kind);
  in.at("reason").get_to(value.reason);
}

void to_json(json& out, const TrialReport& value) {
  out = {{"outcome", value.outcome}, {"cut", value.cut}, {"samples", value.samples}};
  if (value.check) out["check"] = *value.check;
}

void from_json(const json& in, TrialReport& value) {
  in.at("outcome").get_to(value.outcome);
  in.at("cut").get_to(value.cut);
  in.at("samples").get_to(value.samples);
  value.check.reset();
  if (const auto it = in.find("check"); it != in.end()) value.check = it->get<CheckReport>();
}

}  // namespace pgtune
