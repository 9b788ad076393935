// SPDX-License-Identifier: MIT
#include "tuner/space/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "tuner/space/point_evaluator.hpp"
#include "tuner/space/variant_scope.hpp"

namespace pgtune::space {
namespace {

/// `expression` after `steps`, which it may use; `field` names it in messages.
Result<std::int64_t> evaluate_steps(const std::vector<NamedExpression>& steps, const Expression& expression,
                                    std::string_view field, VariantScope& scope) {
  for (const NamedExpression& step : steps) {
    auto value = step.expression.evaluate(scope);
    if (!value) return fail(std::move(value.error()), fmt::format("cost step '{}'", step.name));
    scope.set(step.name, *value);
  }
  auto value = expression.evaluate(scope);
  if (value && *value < 0) value = fail(ErrorKind::kUsage, fmt::format("is {}, but must not be negative", *value));
  if (!value) return fail(std::move(value.error()), std::string(field));
  return value;
}

Result<std::optional<double>> estimate(const TemplateDefinition& definition, const Variant& variant,
                                       const Problem& problem, const DeviceInfo& device,
                                       const std::vector<NamedExpression>& steps, const Expression& expression,
                                       std::string_view field) {
  const std::string origin = fmt::format("template '{}'", definition.name);
  auto scope = VariantScope::create(definition, variant, problem, device);
  if (!scope) return fail(scope.error(), origin);
  auto value = evaluate_steps(steps, expression, field, *scope);
  if (!value) {
    value.error().message += fmt::format("\n  with {}", variant.key());
    return fail(std::move(value.error()), origin);
  }
  return static_cast<double>(*value);
}

}  // namespace

Result<std::optional<double>> l2_bytes(const TemplateDefinition& definition, const Variant& variant,
                                       const Problem& problem, const DeviceInfo& device) {
  if (!definition.l2_bytes) return std::nullopt;
  return estimate(definition, variant, problem, device, {}, *definition.l2_bytes, "traffic.l2_bytes");
}

Result<std::optional<double>> smem_bytes(const TemplateDefinition& definition, const Variant& variant,
                                         const Problem& problem, const DeviceInfo& device) {
  if (!definition.smem_bytes) return l2_bytes(definition, variant, problem, device);
  return estimate(definition, variant, problem, device, {}, *definition.smem_bytes, "traffic.smem_bytes");
}

Result<std::optional<double>> cost_clocks(const TemplateDefinition& definition, const Variant& variant,
                                          const Problem& problem, const DeviceInfo& device) {
  if (!definition.cost) return std::nullopt;
  return estimate(definition, variant, problem, device, definition.cost->steps, definition.cost->clocks, "cost.clocks");
}

Result<std::vector<std::optional<double>>> cost_clocks(const TemplateDefinition& definition,
                                                       std::span<const Variant> variants, const Problem& problem,
                                                       const DeviceInfo& device) {
  std::vector<std::optional<double>> out(variants.size());
  if (!definition.cost) return out;
  PointEvaluator evaluator(definition, problem, device);
  std::vector<StepProgram::Step> steps;
  for (const NamedExpression& step : definition.cost->steps) steps.push_back(evaluator.names().add_step(step));
  steps.push_back(evaluator.names().value(definition.cost->clocks));
  const StepProgram program = StepProgram::compile(steps, evaluator.names().memory());
  evaluator.prepare();
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const bool done = evaluator.take(variants[i]) && evaluator.run(program);
    const std::int64_t clocks = done ? evaluator.value(*steps.back().target) : -1;
    if (clocks >= 0) {
      out[i] = static_cast<double>(clocks);
      continue;
    }
    const auto slowly = cost_clocks(definition, variants[i], problem, device);  // returns the error
    if (!slowly) return tl::unexpected<Error>(slowly.error());
    out[i] = *slowly;
  }
  return out;
}

Result<std::vector<bool>> in_preset(const TemplateDefinition& definition, std::span<const Variant> variants,
                                    const Problem& problem, const DeviceInfo& device) {
  std::vector<bool> out(variants.size(), true);
  if (definition.preset.empty()) return out;
  PointEvaluator evaluator(definition, problem, device);
  const std::vector<StepProgram> rules = evaluator.preset_rules();
  evaluator.prepare();
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (!evaluator.take(variants[i])) {
      const auto scope = VariantScope::create(definition, variants[i], problem, device);  // returns the error
      if (!scope) return fail(scope.error(), fmt::format("template '{}'", definition.name));
    }
    out[i] = std::all_of(rules.begin(), rules.end(), [&](const StepProgram& rule) { return evaluator.run(rule); });
  }
  return out;
}

}  // namespace pgtune::space
