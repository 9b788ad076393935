// SPDX-License-Identifier: MIT
// A template's rules for one problem and device, with names resolved to places in an array of values and ordered by
// when they can be evaluated. Private to tuner/space.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tuner/template/template_definition.hpp"

namespace pgtune::space {

class RuleSchedule {
 public:
  /// Computes a derived value or checks a rule.
  struct Step {
    Expression expression;
    std::vector<std::uint32_t> slots;  ///< of expression.names()
    std::string what;  ///< for messages: "constraint", "policy rule", "preset rule", "derived value 'THREADS'"
    bool is_rule = false;
    /// Rule: place among constraints, followed by the rules of policy (Rules::kSearch), legality and preset. Derived
    /// value: the slot that receives it.
    std::uint32_t target = 0;
  };
  using Steps = std::vector<Step>;
  /// Steps whose bounds tell whether a rule that comes later can still hold: what it needs, then the rule itself.
  using Outlook = std::vector<Step>;

  enum class Rules { kSearch, kLegal };  ///< all, or without policy and preset

  RuleSchedule(const TemplateDefinition& definition, const Problem& problem, const DeviceInfo& device, Rules rules);

  /// Constraints and policy: what can be evaluated once the first `bound` parameters have values (and not before).
  [[nodiscard]] const Steps& constraints_after(std::size_t bound) const { return levels_[bound]; }
  /// Of later ones that add up and compare, how they look once the first `bound` parameters have values.
  [[nodiscard]] const std::vector<Outlook>& outlooks_after(std::size_t bound) const { return outlooks_[bound]; }
  /// Legality rules in the template's order, for points that pass every constraint.
  [[nodiscard]] const Steps& legality() const { return levels_[levels_.size() - 2]; }
  /// Rules of the preset, for points that are legal.
  [[nodiscard]] const Steps& preset() const { return levels_.back(); }

  /// Facts of problem and device filled in, the rest zero.
  [[nodiscard]] const std::vector<std::int64_t>& initial_values() const { return values_; }
  [[nodiscard]] std::size_t parameter_slot(std::size_t parameter) const { return first_parameter_ + parameter; }

  /// Runs steps up to the first rule that is zero, and returns that rule's place. Errors name rule or derived value
  /// and show the caret.
  [[nodiscard]] static Result<std::optional<std::uint32_t>> run(const Steps& steps, std::vector<std::int64_t>& values);
  /// The place of the rule if it cannot hold any more; derived values on the way are written to `bounds`.
  [[nodiscard]] static std::optional<std::uint32_t> hopeless(const Outlook& outlook, std::vector<Bounds>& bounds);

 private:
  std::uint32_t add_slot(const std::string& name, std::int64_t value, std::size_t level);
  [[nodiscard]] std::size_t level_of(const Expression& expression) const;
  void schedule_rule(const Rule& rule, std::uint32_t index, std::size_t level, const char* what);
  /// Adds what computes the derived values `expression` needs: to the level where each has all it depends on, or, for
  /// rules over the problem, before that rule.
  void schedule_needed(const Expression& expression, std::size_t rule_level);
  [[nodiscard]] std::vector<std::uint32_t> slots_of(const Expression& expression) const;
  /// Derived values that `expression` needs, itself or through others.
  [[nodiscard]] std::vector<bool> needed_by(const Expression& expression) const;
  [[nodiscard]] Step derived_step(std::size_t index) const;
  /// Looks ahead at a constraint or a rule of the policy from the levels before its own on.
  void look_ahead(const Rule& rule, std::uint32_t index, const char* what);

  const std::vector<NamedExpression>& derived_;
  std::unordered_map<std::string, std::uint32_t> slots_;
  std::vector<std::size_t> slot_levels_;  ///< parameters that must be bound before the slot has its value
  std::vector<std::int64_t> values_;
  std::vector<bool> scheduled_;  ///< derived values that a step computes already
  std::size_t first_parameter_ = 0, first_derived_ = 0;
  std::vector<std::vector<Outlook>> outlooks_;  ///< by parameters bound
  std::vector<Steps> levels_;                   ///< 0 to all parameters bound, then legality, then the preset
};

/// A parameter's value as expressions see it.
[[nodiscard]] std::int64_t numeric_value(const ParameterValue& value);

}  // namespace pgtune::space
