// SPDX-License-Identifier: MIT
#include "tuner/space/variant_scope.hpp"

#include <fmt/format.h>

#include <utility>

#include "tuner/space/places.hpp"
#include "tuner/template/builtin_names.hpp"
#include "tuner/template/variant_check.hpp"

namespace pgtune::space {

std::optional<std::int64_t> VariantScope::value(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

Result<VariantScope> VariantScope::of_facts(const TemplateDefinition& definition, const Variant& variant,
                                            const Problem& problem, const DeviceInfo& device) {
  TRY(check_problem(definition, problem));
  TRY(check_variant(definition, variant));
  VariantScope out;
  const auto device_facts = device_values(device);
  for (std::size_t i = 0; i < device_facts.size(); ++i) out.set(device_names()[i], device_facts[i]);
  // The scope copies no names: they belong to the problem or are static.
  for (const ProblemFact& fact : problem.facts()) out.set(fact.name, fact.value);
  for (std::size_t i = 0; i < definition.parameters.size(); ++i) {
    out.set(definition.parameters[i].name, numeric_value(variant.parameters[i].value));
  }
  return out;
}

Result<VariantScope> VariantScope::create(const TemplateDefinition& definition, const Variant& variant,
                                          const Problem& problem, const DeviceInfo& device) {
  auto out = of_facts(definition, variant, problem, device);
  if (!out) return out;
  for (const auto& [entries, kind] : {std::pair{&definition.derived, "derived value"}, {&definition.values, "value"}}) {
    for (const NamedExpression& entry : *entries) {
      auto value = entry.expression.evaluate(*out);
      if (!value) {
        value.error().message += fmt::format("\n  with {}", variant.key());
        return fail(std::move(value.error()), fmt::format("{} '{}'", kind, entry.name));
      }
      out->set(entry.name, *value);
    }
  }
  return out;
}

}  // namespace pgtune::space
