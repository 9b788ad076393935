// SPDX-License-Identifier: MIT
// A chain's JSON: parsing, and the chain at small and at huge sizes, which a worker may be handed.
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "targets.hpp"
#include "tuner/chain/chain_definition.hpp"
#include "tuner/model/json.hpp"

namespace pgtune::fuzz {
namespace {

/// What every step that is no GEMM is taken to be.
const operation::OperationDefinition& any_operation() {
  static const auto kOperation = operation::parse_operation(
      R"json({"schema": 1, "name": "scale", "dtypes": ["bf16", "f32"], "dimensions": [{"name": "M"}, {"name": "N"}],
              "buffers": [{"name": "X", "type": "dtype", "role": "in", "extents": ["M", "N"]},
                          {"name": "T", "type": "f32", "role": "scratch", "extents": ["N"]},
                          {"name": "Z", "type": "dtype", "role": "inout", "extents": ["M", "N"], "error": {"rule": "exact"}},
                          {"name": "Y", "type": "dtype", "role": "out", "extents": ["M", "N"], "error": {"rule": "exact"}}],
              "reference": {"source": "scale.cu", "kernels": [{"symbol": "scale", "grid": ["M"], "block": ["32"],
                            "arguments": [{"buffer": "X"}, {"value": "Z"}, {"value": "Y"}, {"int64": "N"}]}]},
              "flops": "M * N", "bytes": "8 * M * N", "unit": "GB/s"})json",
      "scale.json", [](const std::string&) -> Result<std::string> { return std::string("// a kernel\n"); });
  return kOperation.value();
}

}  // namespace

void chain_json(std::string_view bytes) {
  const auto definition = chain::parse_chain(bytes, "fuzz.json");
  if (!definition) return;
  chain::Operations operations;
  for (const chain::StepSpec& step : definition->steps) operations.emplace(step.operation, any_operation());
  for (const std::int64_t size : {std::int64_t{1}, std::int64_t{96}, std::numeric_limits<std::int64_t>::max() / 3}) {
    std::vector<NamedValue> sizes;
    for (const operation::Dimension& dimension : definition->dimensions) sizes.push_back({dimension.name, size});
    const auto made = chain::make_chain(*definition, operations, sizes, std::nullopt);
    if (!made) continue;
    // Whatever is made can be handed to a worker, which reads the same.
    const auto read = nlohmann::json(*made).get<Chain>();
    if (read != *made || !check_chain(read)) std::abort();
    static_cast<void>(read.kept_up());
  }
}

}  // namespace pgtune::fuzz
