// SPDX-License-Identifier: MIT
// A small valid template, a problem and a device for tests to start from.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tuner/template/template_definition.hpp"

namespace pgtune::space::testing {

using nlohmann::json;

inline json sample_json() {
  return json::parse(R"json({
    "schema": 1,
    "name": "sample",
    "description": "for tests",
    "source": "../templates/sample.cu",
    "dtypes": ["f32"],
    "parameters": [
      {"name": "BM", "values": [32, 64, 128], "default": 64, "description": "rows"},
      {"name": "TM", "values": [2, 4, 8], "default": 4},
      {"name": "COPY", "values": ["ldg", "cp_async"], "default": "cp_async"}
    ],
    "derived": [
      {"name": "THREADS", "expr": "(BM / TM) * (BM / TM)"},
      {"name": "SMEM_BYTES", "expr": "2 * BM * 16 * 4"}
    ],
    "constraints": [
      {"expr": "THREADS <= 1024", "reason": "a CTA holds at most 1024 threads"},
      {"expr": "COPY == 'ldg' || TM >= 4", "reason": "cp.async moves 16 bytes"}
    ],
    "legality": [{"expr": "COPY != 'cp_async' || ALIGN_A % 16 == 0", "reason": "rows of A are not aligned to 16 bytes"}],
    "defines": [{"name": "EDGE", "expr": "M % BM != 0"}, {"name": "NO_EDGE", "expr": "!EDGE"}],
    "workspace": {"bytes": "M * N * 4", "zero": "every_launch"},
    "tensor_maps": [
      {"name": "map_a", "operand": "A", "type": "f32", "dims": ["K", "M"], "strides": ["LDA"], "box": ["16", "BM"],
       "swizzle": "64B", "l2_promotion": "128B"}
    ],
    "kernels": [
      {"symbol": "sample_main",
       "grid": ["ceil_div(N, BM)", "ceil_div(M, BM)", "BATCH"], "block": ["THREADS"], "dynamic_smem": "SMEM_BYTES",
       "l2_window": {"operand": "B", "access": "persisting", "hit_ratio": 0.5},
       "arguments": [{"pointer": "A"}, {"pointer": "workspace"}, {"tensor_map": "map_a"}, {"int32": "M"},
                     {"int64": "LDA"}, {"float32": "alpha"}, {"float32": "beta"}]},
      {"symbol": "sample_reduce", "when": "K > 1024", "grid": ["M"], "block": ["128"], "arguments": [{"pointer": "D"}]}
    ]})json");
}

/// Files by the path the parser asks for.
using Files = std::map<std::string, std::string>;

inline FileReader reader(Files files) {
  return [files = std::move(files)](const std::string& path) -> Result<std::string> {
    const auto found = files.find(path);
    if (found == files.end()) return fail(ErrorKind::kUsage, "there is no file '" + path + "'");
    return found->second;
  };
}

inline Files sample_files() { return {{"../templates/sample.cu", "extern \"C\" __global__ void sample_main() {}\n"}}; }

inline Result<TemplateDefinition> parse(const json& document) {
  return parse_template(document.dump(), "sample.json", reader(sample_files()));
}

inline TemplateDefinition parse_or_die(const json& document) {
  auto parsed = parse(document);
  if (!parsed) throw std::runtime_error(parsed.error().text());
  return *parsed;
}

inline Problem problem(std::int64_t m = 512, std::int64_t n = 256, std::int64_t k = 128) {
  Problem out;
  out.m = m;
  out.n = n;
  out.k = k;
  return with_default_strides(out).value();
}

inline DeviceInfo device() {
  DeviceInfo out;
  out.architecture = "sm_90a";
  out.compute_major = 9;
  out.sm_count = 132;
  out.l2_bytes = 50 << 20;
  out.smem_per_block_bytes = 232448;
  out.smem_per_sm_bytes = 233472;
  out.registers_per_sm = 65536;
  return out;
}

}  // namespace pgtune::space::testing
