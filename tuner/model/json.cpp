// SPDX-License-Identifier: MIT
#include "tuner/model/json.hpp"

#include <fmt/format.h>

#include <concepts>
#include <nlohmann/json.hpp>
#include <type_traits>

namespace pgtune {
namespace {

using nlohmann::json;

/// A word that names no enumerator is a malformed message like any other.
template <typename Value>
Value known(std::optional<Value> value, const json& word) {
  if (!value) throw json::other_error::create(501, fmt::format("unknown word {}", word.dump()), &word);
  return *value;
}

template <typename Value, typename Parse>
void read_word(const json& object, const char* field, Value& target, Parse parse) {
  const json& word = object.at(field);
  target = known(parse(word.get<std::string>()), word);
}

json dim3_json(const Dim3& value) { return {value.x, value.y, value.z}; }

Dim3 dim3_from(const json& value) {
  return {value.at(0).get<std::int64_t>(), value.at(1).get<std::int64_t>(), value.at(2).get<std::int64_t>()};
}

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
requires std::same_as<std::remove_const_t<Record>, ReferenceAlgorithm>
void visit_fields(Record& record, const Visit& visit) {
  visit("rank", record.rank);
  visit("description", record.description);
  visit("workspace_bytes", record.workspace_bytes);
  visit("time_s", record.time_s);
  visit("max_error", record.max_error);
}

template <typename Visit, typename Record>
requires std::same_as<std::remove_const_t<Record>, ReferenceReport>
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

void to_json(json& out, const Problem& value) {
  out = {{"m", value.m},
         {"n", value.n},
         {"k", value.k},
         {"batch", value.batch},
         {"dtype", to_string(value.math_mode)},
         {"layout", value.layout()},
         {"lda", value.lda},
         {"ldb", value.ldb},
         {"ldc", value.ldc},
         {"alpha", value.alpha},
         {"beta", value.beta}};
}

void from_json(const json& in, Problem& value) {
  in.at("m").get_to(value.m);
  in.at("n").get_to(value.n);
  in.at("k").get_to(value.k);
  in.at("batch").get_to(value.batch);
  in.at("lda").get_to(value.lda);
  in.at("ldb").get_to(value.ldb);
  in.at("ldc").get_to(value.ldc);
  in.at("alpha").get_to(value.alpha);
  in.at("beta").get_to(value.beta);
  const auto refuse = [&](const Error& error) { throw json::other_error::create(501, error.text(), &in); };
  const auto mode = parse_math_mode(in.at("dtype").get<std::string>());
  if (!mode) refuse(mode.error());
  value.math_mode = *mode;
  auto checked = with_layout(value, in.at("layout").get<std::string>()).and_then(with_default_strides);
  if (!checked) refuse(checked.error());
  value = *checked;
}

json parameters_to_json(const Variant& variant) {
  json out = json::object();
  for (const Assignment& parameter : variant.parameters)
    std::visit([&](const auto& content) { out[parameter.name] = content; }, parameter.value);
  return out;
}

void to_json(json& out, const Variant& value) {
  json parameters = json::array();
  for (const Assignment& parameter : value.parameters)
    std::visit([&](const auto& content) { parameters.push_back({parameter.name, content}); }, parameter.value);
  out = {{"template", value.template_name}, {"parameters", std::move(parameters)}};
}

void from_json(const json& in, Variant& value) {
  in.at("template").get_to(value.template_name);
  value.parameters.clear();
  for (const json& pair : in.at("parameters")) {
    const json& content = pair.at(1);
    ParameterValue parameter;
    if (content.is_string()) {
      parameter = content.get<std::string>();
    } else {
      parameter = content.get<std::int64_t>();
    }
    value.parameters.push_back({pair.at(0).get<std::string>(), std::move(parameter)});
  }
}

static void to_json(json& out, const TensorMapPlan& value) {
  out = {{"name", value.name},
         {"operand", to_string(value.operand)},
         {"type", to_string(value.type)},
         {"dims", value.dims},
         {"strides_bytes", value.strides_bytes},
         {"box", value.box},
         {"swizzle", to_string(value.swizzle)},
         {"l2_promotion", to_string(value.l2_promotion)}};
}

static void from_json(const json& in, TensorMapPlan& value) {
  in.at("name").get_to(value.name);
  read_word(in, "operand", value.operand, parse_operand);
  read_word(in, "type", value.type, parse_tensor_type);
  in.at("dims").get_to(value.dims);
  in.at("strides_bytes").get_to(value.strides_bytes);
  in.at("box").get_to(value.box);
  read_word(in, "swizzle", value.swizzle, parse_swizzle);
  read_word(in, "l2_promotion", value.l2_promotion, parse_l2_promotion);
}

static void to_json(json& out, const KernelArgument& value) {
  out = {{"kind", to_string(value.kind)}};
  switch (value.kind) {
    case ArgumentKind::kPointer:
      out["operand"] = to_string(value.operand);
      break;
    case ArgumentKind::kFloat32:
      out["value"] = value.real;
      break;
    default:
      out["value"] = value.integer;
  }
}

static void from_json(const json& in, KernelArgument& value) {
  read_word(in, "kind", value.kind, parse_argument_kind);
  switch (value.kind) {
    case ArgumentKind::kPointer:
      read_word(in, "operand", value.operand, parse_operand);
      break;
    case ArgumentKind::kFloat32:
      in.at("value").get_to(value.real);
      break;
    default:
      in.at("value").get_to(value.integer);
  }
}

static void to_json(json& out, const KernelLaunch& value) {
  out = {{"symbol", value.symbol},
         {"grid", dim3_json(value.grid)},
         {"block", dim3_json(value.block)},
         {"cluster", dim3_json(value.cluster)},
         {"dynamic_smem_bytes", value.dynamic_smem_bytes},
         {"arguments", value.arguments}};
  if (value.l2_window)
    out["l2_window"] = {{"operand", to_string(value.l2_window->operand)},
                        {"access", to_string(value.l2_window->access)},
                        {"hit_ratio", value.l2_window->hit_ratio}};
}

static void from_json(const json& in, KernelLaunch& value) {
  in.at("symbol").get_to(value.symbol);
  value.grid = dim3_from(in.at("grid"));
  value.block = dim3_from(in.at("block"));
  value.cluster = dim3_from(in.at("cluster"));
  in.at("dynamic_smem_bytes").get_to(value.dynamic_smem_bytes);
  in.at("arguments").get_to(value.arguments);
  if (const auto it = in.find("l2_window"); it != in.end()) {
    L2Window window;
    read_word(*it, "operand", window.operand, parse_operand);
    read_word(*it, "access", window.access, parse_l2_access);
    it->at("hit_ratio").get_to(window.hit_ratio);
    value.l2_window = window;
  }
}

void to_json(json& out, const LaunchPlan& value) {
  out = {{"kernels", value.kernels},
         {"tensor_maps", value.tensor_maps},
         {"workspace_bytes", value.workspace_bytes},
         {"zero_workspace", to_string(value.zero_workspace)}};
}

void from_json(const json& in, LaunchPlan& value) {
  in.at("kernels").get_to(value.kernels);
  in.at("tensor_maps").get_to(value.tensor_maps);
  in.at("workspace_bytes").get_to(value.workspace_bytes);
  read_word(in, "zero_workspace", value.zero_workspace, parse_zero_workspace);
}

void to_json(json& out, const DeviceInfo& value) { write_fields(out, value); }
void from_json(const json& in, DeviceInfo& value) { read_fields(in, value); }
void to_json(json& out, const BuildInfo& value) { write_fields(out, value); }
void from_json(const json& in, BuildInfo& value) { read_fields(in, value); }
void to_json(json& out, const ReferenceAlgorithm& value) { write_fields(out, value); }
void from_json(const json& in, ReferenceAlgorithm& value) { read_fields(in, value); }
void to_json(json& out, const ReferenceReport& value) { write_fields(out, value); }
void from_json(const json& in, ReferenceReport& value) { read_fields(in, value); }
static void to_json(json& out, const CheckReport& value) { write_fields(out, value); }
static void from_json(const json& in, CheckReport& value) { read_fields(in, value); }

void to_json(json& out, const Block& value) {
  out = {{"stage", to_string(value.stage)}, {"round", value.round},   {"position", value.position},
         {"launches", value.launches},      {"time_s", value.time_s}, {"sm_clock_hz", value.sm_clock_hz}};
}

void from_json(const json& in, Block& value) {
  read_word(in, "stage", value.stage, parse_stage);
  in.at("round").get_to(value.round);
  in.at("position").get_to(value.position);
  in.at("launches").get_to(value.launches);
  in.at("time_s").get_to(value.time_s);
  in.at("sm_clock_hz").get_to(value.sm_clock_hz);
}

void to_json(json& out, const Outcome& value) { out = {{"kind", to_string(value.kind)}, {"reason", value.reason}}; }

void from_json(const json& in, Outcome& value) {
  read_word(in, "kind", value.kind, parse_outcome_kind);
  in.at("reason").get_to(value.reason);
}

void to_json(json& out, const TrialReport& value) {
  out = {{"outcome", value.outcome}, {"cut", value.cut}, {"blocks", value.blocks}};
  if (value.check) out["check"] = *value.check;
}

void from_json(const json& in, TrialReport& value) {
  in.at("outcome").get_to(value.outcome);
  in.at("cut").get_to(value.cut);
  in.at("blocks").get_to(value.blocks);
  value.check.reset();
  if (const auto it = in.find("check"); it != in.end()) value.check = it->get<CheckReport>();
}

}  // namespace pgtune
