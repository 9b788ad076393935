// SPDX-License-Identifier: MIT
// A template's names on one problem and device as places of compiled steps. Private to this room.
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
  /// The facts of device and problem, which are known, then the parameters, which are unknown.
  Places(const TemplateDefinition& definition, const Problem& problem, const DeviceInfo& device);

  /// Adds a place for the value of `expression` over the names so far, and returns the step that computes it. It hides
  /// an earlier equal name. Its value is known if it depends on nothing unknown.
  StepProgram::Step add_step(const NamedExpression& entry);

  [[nodiscard]] std::uint32_t operator[](const std::string& name) const { return by_name_.at(name); }
  [[nodiscard]] std::uint32_t parameter(std::size_t index) const {
    return first_parameter_ + static_cast<std::uint32_t>(index);
  }
  /// Compiles `expression` as a rule over the names so far.
  [[nodiscard]] StepProgram::Step rule(const Expression& expression) const;
  /// Compiles it as a value without a name, in a new place.
  [[nodiscard]] StepProgram::Step value(const Expression& expression);

  [[nodiscard]] StepMemory& memory() { return memory_; }
  [[nodiscard]] const StepMemory& memory() const { return memory_; }

 private:
  StepMemory memory_;
  std::unordered_map<std::string, std::uint32_t> by_name_;
  std::uint32_t first_parameter_ = 0;
};

}  // namespace pgtune::space
