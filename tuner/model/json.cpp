// SPDX-License-Identifier: MIT
#include "tuner/model/json.hpp"

#include "tuner/util/identifier.hpp"

namespace pgtune {
namespace {

using nlohmann::json;

/// A problem as it is written: words in place of what they stand for.
struct WrittenProblem {
  std::int64_t m = 0, n = 0, k = 0, batch = 0;
  std::string dtype, layout;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
  double alpha = 0, beta = 0;
  std::optional<std::string> out, epilogue;  ///< absent: the dtype's usual output type, no epilogue
  bool chained = false;
  std::optional<OperationProblem> operation;  ///< as plain numbers; GEMM is stored without them

  PGTUNE_FIELDS(m, n, k, batch, dtype, layout, lda, ldb, ldc, alpha, beta, out, epilogue, (chained, kUnlessDefault),
                operation)
};

}  // namespace

void to_json(json& out, const Problem& value) {
  WrittenProblem written{value.m,        value.n,   value.k,   value.batch,   std::string(to_string(value.dtype)),
                         value.layout(), value.lda, value.ldb, value.ldc,     value.alpha,
                         value.beta,     {},        {},        value.chained, {}};
  if (value.operation) written.operation = *value.operation;
  if (!value.has_usual_output()) written.out = to_string(value.type_of_c());
  if (value.epilogue.any()) written.epilogue = to_string(value.epilogue);
  out = written;
}

void from_json(const json& in, Problem& value) {
  const auto require = [&](auto parsed) {
    if (!parsed) throw json::other_error::create(501, parsed.error().text(), &in);
    return *std::move(parsed);
  };
  const auto written = in.get<WrittenProblem>();
  if (written.operation && written.operation->name != kGemmName) {
    value = require(problem_of(*written.operation, require(parse_dtype(written.dtype))));
    return;
  }
  Problem read{.m = written.m,
               .n = written.n,
               .k = written.k,
               .batch = written.batch,
               .lda = written.lda,
               .ldb = written.ldb,
               .ldc = written.ldc,
               .alpha = written.alpha,
               .beta = written.beta,
               .chained = written.chained};
  read.dtype = require(parse_dtype(written.dtype));
  if (written.out) read.output = require(parse_output_type(*written.out));
  if (written.epilogue) read.epilogue = require(parse_epilogue(*written.epilogue));
  value = require(with_layout(read, written.layout).and_then(with_default_strides));
  if (!written.operation) return;
  if (auto sound = check_operation_problem(*written.operation); !sound)
    throw json::other_error::create(501, sound.error().text(), &in);
  value.operation = OperationHandle(*written.operation);
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

void to_json(json& out, const Dim3& value) { out = {value.x, value.y, value.z}; }

void from_json(const json& in, Dim3& value) {
  in.at(0).get_to(value.x);
  in.at(1).get_to(value.y);
  in.at(2).get_to(value.z);
}

void to_json(json& out, const KernelArgument& value) {
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

void from_json(const json& in, KernelArgument& value) {
  value = {};
  read_field(in.at("kind"), value.kind);
  switch (value.kind) {
    case ArgumentKind::kPointer:
      read_field(in.at("operand"), value.operand);
      break;
    case ArgumentKind::kFloat32:
      in.at("value").get_to(value.real);
      break;
    default:
      in.at("value").get_to(value.integer);
  }
}

}  // namespace pgtune
