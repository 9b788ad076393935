// SPDX-License-Identifier: MIT
#include "tuner/space/places.hpp"

#include "tuner/template/builtin_names.hpp"
#include "tuner/util/identifier.hpp"

namespace pgtune::space {

std::int64_t numeric_value(const ParameterValue& value) {
  if (const auto* const label = std::get_if<std::string>(&value)) return label_value(*label);
  return std::get<std::int64_t>(value);
}

Places::Places(const TemplateDefinition& definition, const Problem& problem, const DeviceInfo& device) {
  const auto add_facts = [this](const std::vector<std::string>& names, const std::vector<std::int64_t>& values) {
    for (std::size_t i = 0; i < names.size(); ++i) by_name_[names[i]] = memory_.add_place(values[i]);
  };
  add_facts(device_names(), device_values(device));
  add_facts(problem_names(problem), problem_values(problem));
  for (std::size_t i = 0; i < definition.parameters.size(); ++i) {
    const std::uint32_t place = memory_.add_place(std::nullopt);
    if (i == 0) first_parameter_ = place;
    by_name_[definition.parameters[i].name] = place;
  }
}

StepProgram::Step Places::add_step(const NamedExpression& entry) {
  StepProgram::Step out = value(entry.expression);
  by_name_[entry.name] = *out.target;
  return out;
}

StepProgram::Step Places::rule(const Expression& expression) const {
  StepProgram::Step out{expression, {}, std::nullopt};
  for (const std::string& name : expression.names()) out.places.push_back(by_name_.at(name));
  return out;
}

StepProgram::Step Places::value(const Expression& expression) {
  StepProgram::Step out = rule(expression);
  out.target = memory_.add_place(StepProgram::known_value(expression, out.places, memory_));
  return out;
}

}  // namespace pgtune::space
