// SPDX-License-Identifier: MIT
#include "tuner/model/operation_baseline.hpp"

#include "tuner/util/fields_json.hpp"

namespace pgtune {

using nlohmann::json;

void to_json(json& out, const OperationBaseline& value) {
  std::visit([&](const auto& baseline) { out = baseline; }, value);
}

void from_json(const json& in, OperationBaseline& value) {
  if (in.contains("template")) {
    value = in.get<TemplateBaseline>();
  } else if (in.contains("gemm")) {
    value = in.get<GemmBaseline>();
  } else {
    value = in.get<LibraryProduct>();
  }
}

const GemmBaseline* find_gemm_baseline(const std::vector<OperationBaseline>& baselines) {
  return baselines.empty() ? nullptr : std::get_if<GemmBaseline>(&baselines.front());
}

Result<void> check_baseline(const OperationBaseline& baseline, const OperationProblem& problem) {
  if (const auto* const product = std::get_if<LibraryProduct>(&baseline))
    return check_library_product(*product, problem);
  if (const auto* const own = std::get_if<TemplateBaseline>(&baseline); own != nullptr && own->selector.empty())
    return fail(ErrorKind::kUsage, "a baseline's template has no name");
  if (const auto* const gemm = std::get_if<GemmBaseline>(&baseline);
      gemm != nullptr && gemm->library != BaselineLibrary::kCublasLt)
    return fail(ErrorKind::kUsage, "a GEMM with all that it has is cuBLASLt's");
  return {};
}

}  // namespace pgtune
