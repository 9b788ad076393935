// SPDX-License-Identifier: MIT
// A template's names on one problem and device as places of compiled steps. Private to tuner/space.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "tuner/expression/step_program.hpp"
#include "tuner/template/template_definition.hpp"

namespace pgtune::space {

/// A parameter's value as expressions see it.
[[nodiscard]] std::int64_t numeric_value(const ParameterValue& value);

class Places {
 public:
  /// Facts of device and problem, which are known, then the parameters, which are not.
  Places(const TemplateDefinition& definition, const Problem& problem, const DeviceInfo& device);

  /// A place for a value computed by `expression` over the names so far, of which one may be called alike and is hidden
  /// from now on; where nothing unknown decides it, its value is known. The step that computes it.
  StepProgram::Step add_step(const NamedExpression& entry);

  [[nodiscard]] std::uint32_t operator[](const std::string& name) const { return by_name_.at(name); }
  [[nodiscard]] std::uint32_t parameter(std::size_t index) const {
    return first_parameter_ + static_cast<std::uint32_t>(index);
  }
  /// `expression` as a rule over the names so far.
  [[nodiscard]] StepProgram::Step rule(const Expression& expression) const;
  /// Likewise as a value without a name, in a new place.
  [[nodiscard]] StepProgram::Step value(const Expression& expression);

  [[nodiscard]] StepMemory& memory() { return memory_; }
  [[nodiscard]] const StepMemory& memory() const { return memory_; }

 private:
  StepMemory memory_;
  std::unordered_map<std::string, std::uint32_t> by_name_;
  std::uint32_t first_parameter_ = 0;
};

}  // namespace pgtune::space
