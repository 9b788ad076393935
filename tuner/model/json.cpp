// SPDX-License-Identifier: MIT
// What is asked for: problems, variants, launch plans.
#include "tuner/model/json.hpp"

#include <nlohmann/json.hpp>

#include "tuner/util/identifier.hpp"
#include "tuner/util/json_fields.hpp"

namespace pgtune {
namespace {

using nlohmann::json;

json dim3_json(const Dim3& value) { return {value.x, value.y, value.z}; }

Dim3 dim3_from(const json& value) {
  return {value.at(0).get<std::int64_t>(), value.at(1).get<std::int64_t>(), value.at(2).get<std::int64_t>()};
}

}  // namespace

void to_json(json& out, const Problem& value) {
  out = {{"m", value.m},
         {"n", value.n},
         {"k", value.k},
         {"batch", value.batch},
         {"dtype", to_string(value.dtype)},
         {"layout", value.layout()},
         {"lda", value.lda},
         {"ldb", value.ldb},
         {"ldc", value.ldc},
         {"alpha", value.alpha},
         {"beta", value.beta}};
  if (!value.has_usual_output()) out["out"] = to_string(value.type_of_c());
  if (value.epilogue.any()) out["epilogue"] = to_string(value.epilogue);
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
  const auto mode = parse_dtype(in.at("dtype").get<std::string>());
  if (!mode) refuse(mode.error());
  value.dtype = *mode;
  value.output.reset();
  if (const auto it = in.find("out"); it != in.end()) {
    const auto output = parse_output_type(it->get<std::string>());
    if (!output) refuse(output.error());
    value.output = *output;
  }
  value.epilogue = {};
  if (const auto it = in.find("epilogue"); it != in.end()) {
    const auto epilogue = parse_epilogue(it->get<std::string>());
    if (!epilogue) refuse(epilogue.error());
    value.epilogue = *epilogue;
  }
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
  // They become code in an exported header, and macros in a build. A baseline's place has a variant without any.
  const auto require = [&](bool good, const std::string& what) {
    if (!good) throw json::other_error::create(501, "a variant has an impossible " + what, &in);
  };
  require(value.template_name.empty() || is_identifier(value.template_name), "template name");
  for (const json& pair : in.at("parameters")) {
    const json& content = pair.at(1);
    ParameterValue parameter;
    if (content.is_string()) {
      parameter = content.get<std::string>();
      require(is_label(std::get<std::string>(parameter)), "label");
    } else {
      parameter = content.get<std::int64_t>();
    }
    auto name = pair.at(0).get<std::string>();
    require(is_identifier(name), "parameter name");
    value.parameters.push_back({std::move(name), std::move(parameter)});
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
  if (value.overlaps_previous) out["overlaps_previous"] = true;
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
  value.overlaps_previous = in.value("overlaps_previous", false);
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

}  // namespace pgtune
