// SPDX-License-Identifier: MIT
// A small valid chain for tests to start from: rows are scaled, and multiplied twice.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tests/operations/sample_operation.hpp"
#include "tuner/chain/chain_definition.hpp"

namespace pgtune::chain::testing {

using nlohmann::json;

inline json sample_json() {
  return json::parse(R"json({
    "schema": 1,
    "name": "sample",
    "description": "for tests",
    "dtypes": ["bf16", "f32"],
    "dimensions": [{"name": "T", "description": "rows"}, {"name": "H"}],
    "derived": [{"name": "WIDE", "expr": "4 * H"}],
    "require": [{"expr": "H % 8 == 0", "reason": "rows are of 16 bytes"}],
    "buffers": [{"name": "scaled"}, {"name": "wide", "description": "between the products"}],
    "steps": [
      {"name": "scale", "operation": "scale.json", "size": {"M": "T", "N": "H"}, "buffers": {"Y": "scaled"}},
      {"name": "up", "operation": "gemm", "layout": "nt", "epilogue": "gelu", "size": {"M": "T", "N": "WIDE", "K": "H"},
       "buffers": {"A": "scaled", "D": "wide"}, "overlaps": true},
      {"name": "down", "operation": "gemm", "size": {"M": "T", "N": "H", "K": "WIDE"}, "alpha": 0.5,
       "buffers": {"A": "wide"}}
    ]
  })json");
}

inline Result<ChainDefinition> parse(const json& document) { return parse_chain(document.dump(), "sample.json"); }

/// Y = X, or what `more` changes of that.
inline operation::OperationDefinition scale_operation(const json& more = {}) {
  json document = json::parse(R"json({
    "schema": 1, "name": "scale", "dtypes": ["bf16", "f32"],
    "dimensions": [{"name": "M"}, {"name": "N"}],
    "require": [{"expr": "N >= 8", "reason": "rows have 8 elements at least"}],
    "buffers": [{"name": "X", "type": "dtype", "role": "in", "extents": ["M", "N"]},
                {"name": "Y", "type": "dtype", "role": "out", "extents": ["M", "N"], "error": {"rule": "exact"}}],
    "reference": {"source": "scale.cu", "kernels": [{"symbol": "scale", "grid": ["M"], "block": ["32"],
                  "arguments": [{"buffer": "X"}, {"value": "Y"}, {"int64": "N"}]}]},
    "flops": "M * N", "bytes": "2 * ELEM_BYTES * M * N", "unit": "GB/s"
  })json");
  if (more.is_object()) document.merge_patch(more);
  return operation::testing::parse(document).value();
}

}  // namespace pgtune::chain::testing
