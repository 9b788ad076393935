// SPDX-License-Identifier: MIT
#include "tuner/space/rule_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/template/builtin_names.hpp"

namespace pgtune::space {

std::int64_t numeric_value(const ParameterValue& value) {
  if (const auto* const label = std::get_if<std::string>(&value)) return label_value(*label);
  return std::get<std::int64_t>(value);
}

RuleSchedule::RuleSchedule(const TemplateDefinition& definition, const Problem& problem, const DeviceInfo& device,
                           Rules rules)
    : derived_(definition.derived), scheduled_(definition.derived.size()), levels_(definition.parameters.size() + 3) {
  const auto device_facts = device_values(device);
  for (std::size_t i = 0; i < device_facts.size(); ++i) add_slot(device_names()[i], device_facts[i], 0);
  const auto names = problem_names(problem);
  const auto problem_facts = problem_values(problem);
  for (std::size_t i = 0; i < problem_facts.size(); ++i) add_slot(names[i], problem_facts[i], 0);
  first_parameter_ = values_.size();
  for (std::size_t i = 0; i < definition.parameters.size(); ++i) add_slot(definition.parameters[i].name, 0, i + 1);
  first_derived_ = values_.size();
  for (const NamedExpression& entry : derived_) add_slot(entry.name, 0, level_of(entry.expression));

  // Rules over the space alone, which are checked on the way to a point.
  const auto for_each_early = [&](const auto& visit) {
    std::uint32_t index = 0;
    for (const Rule& rule : definition.constraints) visit(rule, index++, "constraint");
    if (rules == Rules::kLegal) return index;
    for (const Rule& rule : definition.policy) visit(rule, index++, "policy rule");
    return index;
  };
  // Levels in ascending order, so a derived value lands behind the rules that guard it.
  for (std::size_t level = 0; level <= definition.parameters.size(); ++level) {
    for_each_early([&](const Rule& rule, std::uint32_t index, const char* what) {
      if (level_of(rule.expression) == level) schedule_rule(rule, index, level, what);
    });
  }
  outlooks_.resize(definition.parameters.size() + 1);
  std::uint32_t index =
      for_each_early([&](const Rule& rule, std::uint32_t early, const char* what) { look_ahead(rule, early, what); });
  for (const Rule& rule : definition.legality) schedule_rule(rule, index++, levels_.size() - 2, "legality rule");
  if (rules == Rules::kLegal || !definition.limits_to_preset()) return;
  for (const Rule& rule : definition.preset) schedule_rule(rule, index++, levels_.size() - 1, "preset rule");
}

std::uint32_t RuleSchedule::add_slot(const std::string& name, std::int64_t value, std::size_t level) {
  const auto slot = static_cast<std::uint32_t>(values_.size());
  slots_.emplace(name, slot);
  values_.push_back(value);
  slot_levels_.push_back(level);
  return slot;
}

std::size_t RuleSchedule::level_of(const Expression& expression) const {
  std::size_t level = 0;
  for (const std::string& name : expression.names()) level = std::max(level, slot_levels_[slots_.at(name)]);
  return level;
}

std::vector<std::uint32_t> RuleSchedule::slots_of(const Expression& expression) const {
  std::vector<std::uint32_t> slots;
  for (const std::string& name : expression.names()) slots.push_back(slots_.at(name));
  return slots;
}

void RuleSchedule::schedule_rule(const Rule& rule, std::uint32_t index, std::size_t level, const char* what) {
  schedule_needed(rule.expression, level);
  levels_[level].push_back({rule.expression, slots_of(rule.expression), what, true, index});
}

void RuleSchedule::schedule_needed(const Expression& expression, std::size_t rule_level) {
  const bool over_problem = rule_level + 2 >= levels_.size();
  const std::vector<bool> needed = needed_by(expression);
  for (std::size_t i = 0; i < derived_.size(); ++i) {
    if (!needed[i] || scheduled_[i]) continue;
    scheduled_[i] = true;
    const auto slot = static_cast<std::uint32_t>(first_derived_ + i);
    const std::size_t level = over_problem ? rule_level : slot_levels_[slot];
    levels_[level].push_back(derived_step(i));
  }
}

std::vector<bool> RuleSchedule::needed_by(const Expression& expression) const {
  // Derived values use earlier ones only, so marking from the back orders them.
  std::vector<bool> needed(derived_.size());
  const auto mark = [&](const Expression& user) {
    for (const std::string& name : user.names()) {
      if (const std::uint32_t slot = slots_.at(name); slot >= first_derived_) needed[slot - first_derived_] = true;
    }
  };
  mark(expression);
  for (std::size_t i = derived_.size(); i-- > 0;) {
    if (needed[i]) mark(derived_[i].expression);
  }
  return needed;
}

RuleSchedule::Step RuleSchedule::derived_step(std::size_t index) const {
  const NamedExpression& entry = derived_[index];
  return {entry.expression, slots_of(entry.expression), fmt::format("derived value '{}'", entry.name), false,
          static_cast<std::uint32_t>(first_derived_ + index)};
}

void RuleSchedule::look_ahead(const Rule& rule, std::uint32_t index, const char* what) {
  if (!rule.expression.has_bounds()) return;
  Outlook outlook;
  std::vector<bool> parameters(outlooks_.size());  // that it depends on, by the level that binds them
  std::size_t decided = 0;                         // from here on everything that has no bounds by itself is known
  const auto add = [&](const Expression& expression) {
    for (const std::string& name : expression.names()) {
      const std::uint32_t slot = slots_.at(name);
      if (slot >= first_parameter_ && slot < first_derived_) parameters[slot - first_parameter_ + 1] = true;
    }
  };
  const std::vector<bool> needed = needed_by(rule.expression);
  for (std::size_t i = 0; i < derived_.size(); ++i) {
    if (!needed[i]) continue;
    add(derived_[i].expression);
    if (!derived_[i].expression.has_bounds()) decided = std::max(decided, slot_levels_[first_derived_ + i]);
    outlook.push_back(derived_step(i));
  }
  add(rule.expression);
  outlook.push_back({rule.expression, slots_of(rule.expression), what, true, index});
  // From the third of five parameters or more on: before, and of fewer, it costs more than it saves.
  constexpr std::ptrdiff_t kFewest = 5, kBoundBefore = 2;
  if (std::count(parameters.begin(), parameters.end(), true) < kFewest) return;
  const std::size_t level = level_of(rule.expression);
  std::ptrdiff_t bound = 0;
  for (std::size_t at = 0; at < level; ++at) {
    bound += parameters[at] ? 1 : 0;
    if (parameters[at] && at >= decided && bound > kBoundBefore) outlooks_[at].push_back(outlook);
  }
}

std::optional<std::uint32_t> RuleSchedule::hopeless(const Outlook& outlook, std::vector<Bounds>& bounds) {
  for (const Step& step : outlook) {
    const std::optional<Bounds> value = step.expression.bounds(bounds, step.slots);
    if (!value) return std::nullopt;
    if (step.is_rule) return *value == Bounds{0, 0} ? std::optional<std::uint32_t>(step.target) : std::nullopt;
    bounds[step.target] = *value;
  }
  return std::nullopt;
}

Result<std::optional<std::uint32_t>> RuleSchedule::run(const Steps& steps, std::vector<std::int64_t>& values) {
  for (const Step& step : steps) {
    auto value = step.expression.evaluate(values, step.slots);
    if (!value) return fail(std::move(value.error()), step.what);
    if (!step.is_rule) {
      values[step.target] = *value;
    } else if (*value == 0) {
      return step.target;
    }
  }
  return std::nullopt;
}

}  // namespace pgtune::space
