// SPDX-License-Identifier: MIT
// The macros that make one variant of a template.
#include <fmt/format.h>

#include <set>

#include "tuner/space/plan.hpp"
#include "tuner/space/variant_scope.hpp"

namespace pgtune::space {
namespace {

std::string label_macro(const std::string& label) { return "LABEL_" + label; }

std::string macro_value(const ParameterValue& value) {
  const auto* const label = std::get_if<std::string>(&value);
  return label != nullptr ? label_macro(*label) : to_string(value);
}

/// Every label of the template, not just this variant's, so that a kernel can compare with any of them.
void add_labels(const TemplateDefinition& definition, std::vector<Define>& out) {
  std::set<std::string_view> seen;
  for (const Parameter& parameter : definition.parameters) {
    for (const ParameterValue& value : parameter.values) {
      const auto* const label = std::get_if<std::string>(&value);
      if (label == nullptr || !seen.insert(*label).second) continue;
      out.push_back({label_macro(*label), std::to_string(label_value(*label))});
    }
  }
}

}  // namespace

Result<std::vector<Define>> make_defines(const TemplateDefinition& definition, const Variant& variant,
                                         const Problem& problem, const DeviceInfo& device) {
  auto scope = VariantScope::create(definition, variant, problem, device);
  if (!scope) return fail(std::move(scope.error()), fmt::format("template '{}'", definition.name));
  std::vector<Define> out;
  add_labels(definition, out);
  for (const Assignment& assignment : variant.parameters)
    out.push_back({assignment.name, macro_value(assignment.value)});
  for (const NamedExpression& entry : definition.derived) {
    out.push_back({entry.name, std::to_string(scope->value(entry.name).value_or(0))});
  }
  for (const NamedExpression& entry : definition.defines) {
    auto value = entry.expression.evaluate(*scope);
    if (!value) {
      value.error().message += fmt::format("\n  with {}", variant.key());
      return fail(fail(std::move(value.error()), fmt::format("define '{}'", entry.name)).value(),
                  fmt::format("template '{}'", definition.name));
    }
    scope->set(entry.name, *value);
    out.push_back({entry.name, std::to_string(*value)});
  }
  return out;
}

}  // namespace pgtune::space
