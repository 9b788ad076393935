// SPDX-License-Identifier: MIT
// A small valid operation for tests to start from.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tuner/operation/operation_definition.hpp"

namespace pgtune::operation::testing {

using nlohmann::json;

inline json sample_json() {
  return json::parse(R"json({
    "schema": 1,
    "name": "scale_rows",
    "description": "for tests",
    "dtypes": ["bf16", "f32"],
    "dimensions": [{"name": "M", "description": "rows"}, {"name": "N"}],
    "derived": [{"name": "PITCH", "expr": "round_up(N, 8)"}],
    "require": [{"expr": "N % 2 == 0", "reason": "rows are pairs"}],
    "scalars": [{"name": "eps", "value": 0.5}],
    "buffers": [
      {"name": "X", "type": "dtype", "role": "in", "extents": ["M", "N"], "strides": ["PITCH", "1"], "fill": {"normal": [0, 2]}},
      {"name": "S", "type": "f32", "role": "in", "extents": ["M"], "fill": {"linked": "Q"}},
      {"name": "Q", "type": "int8", "role": "in", "extents": ["M", "N"],
       "fill": {"kernel": {"symbol": "quantise", "grid": ["M"], "block": ["32"], "arguments": [{"buffer": "Q"}, {"buffer": "S"}, {"seed": true}]}}},
      {"name": "I", "type": "int32", "role": "in", "extents": ["M"], "align": 16, "fill": {"integers": ["0", "M - 1"]}},
      {"name": "Z", "type": "f32", "role": "inout", "extents": ["M", "N"], "error": {"rule": "sum", "terms": "N + 1"}},
      {"name": "Y", "type": "dtype", "role": "out", "extents": ["M", "N"], "error": {"rule": "ulp", "ulps": 2}},
      {"name": "T", "type": "f32", "role": "scratch", "extents": ["M * N"]}
    ],
    "reference": {
      "source": "scale_rows.cu",
      "kernels": [{"symbol": "scale_rows", "grid": ["M"], "block": ["256"],
                   "arguments": [{"buffer": "X"}, {"value": "Z"}, {"scale": "Z"}, {"value": "Y"}, {"int64": "N"}, {"float32": "eps"}]}]
    },
    "flops": "2 * M * N",
    "bytes": "M * N * (2 * ELEM_BYTES + 8)",
    "unit": "GB/s",
    "templates": ["scale_rows_template.json"]
  })json");
}

/// The same with Y judged by residuals.
inline json residual_json() {
  json document = sample_json();
  document["buffers"][5]["error"] = {{"rule", "residual"}, {"factor", "4 * N"}};
  document["reference"]["kernels"].push_back(json::parse(R"json({
    "symbol": "scale_rows_residual", "grid": ["M"], "block": ["256"],
    "arguments": [{"result": "Y"}, {"value": "Y"}, {"scale": "Y"}, {"int64": "N"}]})json"));
  return document;
}

/// The same with flops and bytes that follow from I.
inline json counting_json(const char* flops = "2 * T * N + 5", const char* bytes = "T * (N + 4) - L * PITCH + 800") {
  json document = sample_json();
  document["counts"] = json::parse(R"([
    {"name": "T", "count": "sum", "buffer": "I", "expected": "M * (M - 1) / 2"},
    {"name": "L", "count": "above", "buffer": "I", "bound": "M - 3", "expected": "2"}])");
  document["flops"] = flops;
  document["bytes"] = bytes;
  return document;
}

inline Result<std::string> any_file(const std::string& /*path*/) { return std::string("#include \"operation.cuh\"\n"); }

inline Result<OperationDefinition> parse(const json& document) {
  return parse_operation(document.dump(), "sample.json", any_file);
}

}  // namespace pgtune::operation::testing
