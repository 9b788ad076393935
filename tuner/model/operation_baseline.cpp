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
  } else {
    value = in.get<LibraryProduct>();
  }
}

Result<void> check_baseline(const OperationBaseline& baseline, const OperationProblem& problem) {
  if (const auto* const product = std::get_if<LibraryProduct>(&baseline))
    return check_library_product(*product, problem);
  if (std::get<TemplateBaseline>(baseline).selector.empty())
    return fail(ErrorKind::kUsage, "a baseline's template has no name");
  return {};
}

}  // namespace pgtune
