// SPDX-License-Identifier: MIT
// The macros that make one variant of a template.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "tuner/space/plan.hpp"
#include "tuner/space/variant_scope.hpp"
#include "tuner/util/identifier.hpp"

namespace pgtune::space {
namespace {

std::string label_macro(std::string_view label) { return fmt::format("LABEL_{}", label); }

std::string macro_value(const ParameterValue& value) {
  const auto* const label = std::get_if<std::string>(&value);
  return label != nullptr ? label_macro(*label) : to_string(value);
}

/// Whether the template's macros depend on a built-in name with words as values.
bool asks_for(const TemplateDefinition& definition, std::string_view builtin) {
  const auto names_it = [&](const NamedExpression& entry) {
    const auto& names = entry.expression.names();
    return std::find(names.begin(), names.end(), builtin) != names.end();
  };
  return std::any_of(definition.derived.begin(), definition.derived.end(), names_it) ||
         std::any_of(definition.defines.begin(), definition.defines.end(), names_it);
}

/// Every label of the template, not only this variant's, so that a kernel can compare with any of them. A kernel that
/// uses the dtype or the activation gets all of their words, too.
void add_labels(const TemplateDefinition& definition, std::vector<Define>& out) {
  std::set<std::string_view> seen;
  const auto add = [&](std::string_view label) {
    if (seen.insert(label).second) out.push_back({label_macro(label), std::to_string(label_value(label))});
  };
  for (const Parameter& parameter : definition.parameters) {
    for (const ParameterValue& value : parameter.values) {
      const auto* const label = std::get_if<std::string>(&value);
      if (label != nullptr) add(*label);
    }
  }
  if (asks_for(definition, "DTYPE")) {
    for (const Dtype dtype : all_dtypes()) add(to_string(dtype));
  }
  if (asks_for(definition, "ACTIVATION")) {
    for (const Activation activation : all_activations()) add(to_string(activation));
  }
}

}  // namespace

Result<std::vector<Define>> make_defines(const TemplateDefinition& definition, const Variant& variant,
                                         const Problem& problem, const DeviceInfo& device, Edges edges) {
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
    if (edges == Edges::kAlways && entry.name == kEdgeDefine) value = 1;
    scope->set(entry.name, *value);
    out.push_back({entry.name, std::to_string(*value)});
  }
  return out;
}

std::vector<KernelModule> separate_modules(const TemplateDefinition& definition, const std::vector<KernelCall>& calls,
                                           const std::vector<Define>& defines) {
  std::vector<KernelModule> out;
  for (const KernelSpec& kernel : definition.kernels) {
    const auto has_symbol = [&](const auto& other) { return other.symbol == kernel.symbol; };
    if (!kernel.module || std::none_of(calls.begin(), calls.end(), has_symbol)) continue;
    if (std::any_of(out.begin(), out.end(), has_symbol)) continue;  // launched twice
    const auto& names = kernel.module->defines;
    KernelModule& module = out.emplace_back(KernelModule{kernel.symbol, kernel.module->header, {}});
    std::copy_if(defines.begin(), defines.end(), std::back_inserter(module.defines), [&](const Define& define) {
      return std::find(names.begin(), names.end(), define.name) != names.end();
    });
  }
  return out;
}

}  // namespace pgtune::space
