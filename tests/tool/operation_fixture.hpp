// SPDX-License-Identifier: MIT
// An operation of a user's own for tests of the command line.
#pragma once

#include <string>
#include <vector>

#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {

inline constexpr const char* kOwnOperation = R"json({
  "schema": 1, "name": "twice", "dimensions": [{"name": "N"}],
  "require": [{"expr": "N % 4 == 0", "reason": "N must be a multiple of 4"}],
  "buffers": [
    {"name": "X", "type": "f32", "role": "in", "extents": ["N"]},
    {"name": "Y", "type": "f32", "role": "out", "extents": ["N"], "error": {"rule": "exact"}}],
  "reference": {"source": "twice_reference.cu", "kernels": [
    {"symbol": "twice", "grid": ["1"], "block": ["256"], "arguments": [{"buffer": "X"}, {"value": "Y"}, {"int64": "N"}]}]},
  "flops": "N", "bytes": "8 * N", "unit": "GB/s", "templates": ["twice_template.json"]
})json";

inline constexpr const char* kOwnTemplate = R"json({
  "schema": 1, "name": "twice_simple", "operation": "twice", "source": "twice.cu",
  "parameters": [{"name": "THREADS", "values": [64, 128, 256], "default": 128}],
  "kernels": [{"symbol": "twice", "grid": ["ceil_div(N, THREADS)"], "block": ["THREADS"],
    "arguments": [{"pointer": "X"}, {"pointer": "Y"}, {"int64": "N"}]}]
})json";

/// With that operation as twice.json, and its template as twice_template.json.
class OwnOperationTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    write("twice.json", kOwnOperation);
    write("twice_template.json", kOwnTemplate);
    write("twice_reference.cu", "#include \"operation.cuh\"\n");
    write("twice.cu", "extern \"C\" __global__ void twice(const float*, float*, long long) {}\n");
  }
  Finished of(const std::string& command, const std::string& operation, const std::string& sizes,
              const std::vector<std::string>& more = {}) {
    return pgtune({command, "--operation", operation, "--size", sizes}, more);
  }
};

}  // namespace pgtune::tool::test
