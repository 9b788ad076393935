// SPDX-License-Identifier: MIT
#include "tuner/space/variant_facts.hpp"

#include <map>
#include <optional>
#include <string>

#include "tuner/space/plan.hpp"
#include "tuner/space/point_evaluator.hpp"

namespace pgtune::space {
namespace {

/// A template's cost on one problem. An evaluator of its own: names of its steps may be those of defines.
class CostEvaluator {
 public:
  CostEvaluator(const TemplateDefinition& definition, const Problem& problem, const DeviceInfo& device)
      : evaluator_(definition, problem, device) {
    std::vector<StepProgram::Step> steps;
    for (const NamedExpression& step : definition.cost->steps) steps.push_back(evaluator_.names().add_step(step));
    steps.push_back(evaluator_.names().value(definition.cost->clocks));
    clocks_at_ = *steps.back().target;
    cost_ = StepProgram::compile(steps, evaluator_.names().memory());
    evaluator_.prepare();
  }
  std::optional<double> of(const Variant& variant) {
    if (!evaluator_.take(variant) || !evaluator_.run(cost_)) return std::nullopt;
    return static_cast<double>(evaluator_.value(clocks_at_));
  }

 private:
  PointEvaluator evaluator_;
  StepProgram cost_;
  std::uint32_t clocks_at_ = 0;
};

/// One template's rules, defines and cost on one problem.
class Evaluator {
 public:
  Evaluator(const TemplateDefinition& definition, const Problem& problem, const DeviceInfo& device, WithCosts costs)
      : evaluator_(definition, problem, device) {
    Places& names = evaluator_.names();
    std::vector<StepProgram::Step> rules, defines;
    for (const Rule& rule : definition.legality) rules.push_back(names.rule(rule.expression));
    legality_ = StepProgram::compile(rules, names.memory());
    static const NamedExpression kEdges{std::string(kEdgeDefine), Expression::parse("1").value()};
    for (const NamedExpression& define : definition.defines) {
      defines.push_back(names.add_step(define.name == kEdgeDefine ? kEdges : define));
      defines_at_.push_back(*defines.back().target);
    }
    defines_ = StepProgram::compile(defines, names.memory());
    evaluator_.prepare();
    if (definition.cost && costs == WithCosts::kYes) cost_.emplace(definition, problem, device);
  }

  VariantFacts of(const Variant& variant) {
    VariantFacts facts;
    if (!evaluator_.take(variant) || !evaluator_.run(legality_) || !evaluator_.run(defines_)) return facts;
    constexpr std::uint64_t kBasis = 0xcbf29ce484222325, kPrime = 0x100000001b3;  // FNV-1a, a word at a time
    facts.build = kBasis;
    for (const std::uint32_t place : defines_at_)
      facts.build = (facts.build ^ static_cast<std::uint64_t>(evaluator_.value(place))) * kPrime;
    if (cost_) {
      const auto clocks = cost_->of(variant);
      if (!clocks) return {};
      facts.clocks = *clocks;
    }
    facts.legal = true;
    return facts;
  }

 private:
  PointEvaluator evaluator_;
  StepProgram legality_, defines_;
  std::vector<std::uint32_t> defines_at_;
  std::optional<CostEvaluator> cost_;
};

}  // namespace

std::vector<VariantFacts> variant_facts(const TemplateSet& templates, std::span<const Variant> variants,
                                        const Problem& problem, const DeviceInfo& device, WithCosts costs) {
  std::map<std::string, Evaluator> by_template;
  std::vector<VariantFacts> out;
  out.reserve(variants.size());
  for (const Variant& variant : variants) {
    auto known = by_template.find(variant.template_name);
    if (known == by_template.end())
      known = by_template.try_emplace(variant.template_name, templates.of(variant), problem, device, costs).first;
    out.push_back(known->second.of(variant));
  }
  return out;
}

}  // namespace pgtune::space
