// SPDX-License-Identifier: MIT
#include "tuner/space/point_evaluator.hpp"

#include <algorithm>

namespace pgtune::space {

PointEvaluator::PointEvaluator(const TemplateDefinition& definition, const Problem& problem, const DeviceInfo& device)
    : definition_(definition), places_(definition, problem, device), choices_(definition.parameters.size()) {
  for (const Parameter& parameter : definition.parameters) {
    auto& numbers = numbers_.emplace_back();
    for (const ParameterValue& value : parameter.values) numbers.push_back(numeric_value(value));
  }
  std::vector<StepProgram::Step> steps;
  for (const auto* expressions : {&definition.derived, &definition.values}) {
    for (const NamedExpression& entry : *expressions) steps.push_back(places_.add_step(entry));
  }
  program_ = StepProgram::compile(steps, places_.memory());
}

std::vector<StepProgram> PointEvaluator::preset_rules() {
  std::vector<StepProgram> out;
  for (const Rule& rule : definition_.preset)
    out.push_back(StepProgram::compile(std::vector{places_.rule(rule.expression)}, places_.memory()));
  return out;
}

bool PointEvaluator::take(const Variant& variant) {
  if (variant.parameters.size() != numbers_.size()) return false;
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    const Parameter& parameter = definition_.parameters[i];
    const Assignment& own = variant.parameters[i];
    const auto found = std::find(parameter.values.begin(), parameter.values.end(), own.value);
    if (own.name != parameter.name || found == parameter.values.end()) return false;
    choices_[i] = static_cast<std::size_t>(found - parameter.values.begin());
    values_[places_.parameter(i)] = numbers_[i][choices_[i]];
  }
  return run(program_);
}

}  // namespace pgtune::space
