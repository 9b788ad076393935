// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "tuner/space/plan.hpp"
#include "tuner/space/variant_scope.hpp"

namespace pgtune::space {
namespace {

/// Adds the word, unless its `when` is zero.
Result<void> add_word(const SumOrder::Word& word, const VariantScope& scope, std::string& out) {
  if (word.when) {
    TRY_ASSIGN(const auto holds, word.when->evaluate(scope));
    if (holds == 0) return {};
  }
  if (!out.empty()) out += ", ";
  for (std::size_t i = 0; i < word.numbers.size(); ++i) {
    TRY_ASSIGN(const auto number, word.numbers[i].evaluate(scope));
    out += fmt::format("{}{}", word.texts[i], number);
  }
  out += word.texts.back();
  return {};
}

Result<std::string> name_of(const SumOrder& order, const VariantScope& scope) {
  if (order.when) {
    TRY_ASSIGN(const auto has_one, order.when->evaluate(scope));
    if (has_one == 0) return std::string();
  }
  std::string out;
  for (const SumOrder::Word& word : order.words) TRY(add_word(word, scope, out));
  return out;
}

}  // namespace

Result<std::string> sum_order(const TemplateDefinition& definition, const Variant& variant, const Problem& problem,
                              const DeviceInfo& device) {
  if (!definition.sum_order) return std::string();
  TRY_ASSIGN(const auto scope, VariantScope::create(definition, variant, problem, device));
  auto name = name_of(*definition.sum_order, scope);
  if (!name) return fail(std::move(name.error()), fmt::format("template '{}': sum_order", definition.name));
  return name;
}

}  // namespace pgtune::space
