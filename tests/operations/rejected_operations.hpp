// SPDX-License-Identifier: MIT
// Operations whose check cannot tell right from wrong, and what the null test says of each. They differ from a sound
// one in what their reference computes and in their error rule.
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "tuner/operation/operation_definition.hpp"

namespace pgtune::operation::testing {

struct JudgedOperation {
  const char* name;
  const char* result;           ///< statements of the reference for element i, of a = X[i] and b = S[i]
  const char* error;            ///< of the output, as JSON
  const char* rejection;        ///< inside the null test's message; empty: it passes
  std::int64_t elements = 192;  ///< more than one block, and its last one ragged
  const char* second = "";      ///< error of a second output, Z; empty: there is none
  friend void PrintTo(const JudgedOperation& value, std::ostream* out) { *out << value.name; }
};

/// Products of pairs of numbers between 0.5 and 1.
inline std::vector<JudgedOperation> judged_operations() {
  return {
      {"Sound", "y[i] = a * b;", R"({"rule": "ulp"})", ""},
      {"SoundOfOneElement", "y[i] = a * b;", R"({"rule": "ulp"})", "", 1},
      {"ABoundOfTheValueItself", "y[i] = a * b;", R"({"rule": "allclose", "relative": 1, "absolute": 0})",
       "zeros in Y pass: the error rule is too loose"},
      {"AReferenceOfZeros", "y[i] = 0;", R"({"rule": "exact"})", "zeros in Y pass"},
      {"NothingThatIsJudged", "y[i] = a * b; scale[i] = -1;", R"({"rule": "ulp", "float32_ulps": 1})",
       "zeros in Y pass"},
      {"AConstantReference", "y[i] = 1;", R"({"rule": "exact"})", "Y shifted by one element passes"},
      {"ABoundOfNeighboursDifferences", "y[i] = 8 + a * b;", R"({"rule": "allclose", "relative": 0, "absolute": 0.75})",
       "Y shifted by one element passes"},
      {"AnInputThatIsNotRead", "y[i] = a;", R"({"rule": "ulp"})",
       "the result of S with a sixteenth of it zero passes: the error rule is too loose for these data, or the result "
       "does not depend on S"},
      {"ABoundThatHidesAnInput", "y[i] = a + 1e-3 * b;", R"({"rule": "allclose", "relative": 0, "absolute": 0.01})",
       "the result of S with a sixteenth of it zero passes"},
      {"ABoundOfNothing", "y[i] = a * b;", R"({"rule": "exact"})", "the error rule is too tight"},
      {"ElementsUnwritten", "if (i % 64 != 3) y[i] = a * b;", R"({"rule": "ulp"})",
       "the reference of the operation 'judged' leaves 3 of 192 elements unwritten"},
      {"TwoSoundOutputs", "y[i] = a * b; z[i] = a;", R"({"rule": "ulp"})", "", 192, R"({"rule": "ulp"})"},
      {"ALooseOutputBehindASoundOne", "y[i] = a * b; z[i] = a;", R"({"rule": "ulp"})",
       "zeros in Z pass: the error rule is too loose", 192, R"({"rule": "allclose", "relative": 1, "absolute": 0})"},
      {"AConstantOutputBehindASoundOne", "y[i] = a * b; z[i] = 1;", R"({"rule": "ulp"})",
       "Z shifted by one element passes", 192, R"({"rule": "exact"})"},
  };
}

/// Errors where its JSON is refused.
inline Result<Problem> judged_problem(const JudgedOperation& judged) {
  auto document = nlohmann::json::parse(R"json({
    "schema": 1, "name": "judged", "dimensions": [{"name": "N"}],
    "buffers": [
      {"name": "X", "type": "f32", "role": "in", "extents": ["N"], "fill": {"uniform": [0.5, 1]}},
      {"name": "S", "type": "f32", "role": "in", "extents": ["N"], "fill": {"uniform": [0.5, 1]}},
      {"name": "Y", "type": "f32", "role": "out", "extents": ["N"]}],
    "reference": {"source": "judged_reference.cu", "kernels": [
      {"symbol": "judged_reference", "grid": ["ceil_div(N, 128)"], "block": ["128"],
       "arguments": [{"buffer": "X"}, {"buffer": "S"}, {"value": "Y"}, {"scale": "Y"}, {"int64": "N"}]}]},
    "flops": "N", "bytes": "12 * N", "unit": "GB/s"})json");
  document["buffers"][2]["error"] = nlohmann::json::parse(judged.error);
  const bool two = judged.second[0] != '\0';
  if (two) {
    document["buffers"].push_back({{"name", "Z"}, {"type", "f32"}, {"role", "out"}, {"extents", {"N"}}});
    document["buffers"][3]["error"] = nlohmann::json::parse(judged.second);
    document["reference"]["kernels"][0]["arguments"].push_back({{"value", "Z"}});
  }
  const std::string source =
      R"(#include "operation.cuh"
extern "C" __global__ void judged_reference(const void* x, const void* s, double* y, float* scale, i64 n)" +
      std::string(two ? ", double* z" : "") + R"() {
  const i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double a = load_element(x, i, TYPE_X), b = load_element(s, i, TYPE_S);
  )" + std::string(judged.result) +
      "\n}\n";
  const auto read = [&](const std::string& /*path*/) -> Result<std::string> { return source; };
  return parse_operation(document.dump(), "judged.json", read).and_then([&](const auto& definition) {
    return make_problem(definition, {{"N", judged.elements}}, std::nullopt);
  });
}

}  // namespace pgtune::operation::testing
