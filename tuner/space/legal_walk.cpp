// SPDX-License-Identifier: MIT
#include "tuner/space/legal_walk.hpp"

#include <algorithm>

#include "tuner/space/places.hpp"
#include "tuner/space/rule_schedule.hpp"
#include "tuner/space/walk_limits.hpp"

namespace pgtune::space {
namespace {

class LegalWalk {
 public:
  LegalWalk(const TemplateDefinition& definition, const Problem& problem, const DeviceInfo& device)
      : definition_(definition), places_(definition, problem, device), chosen_(definition.parameters.size()) {
    for (const Parameter& parameter : definition.parameters) {
      auto& numbers = numbers_.emplace_back();
      for (const ParameterValue& value : parameter.values) numbers.push_back(numeric_value(value));
    }
    levels_.resize(places_.memory().known().size());
    for (std::size_t i = 0; i < numbers_.size(); ++i) levels_[places_.parameter(i)] = i + 1;
    for (const NamedExpression& entry : definition.derived) add_derived(entry);
    steps_.resize(numbers_.size() + 1);
    programs_.resize(steps_.size());
    outlooks_.resize(steps_.size());
    for (std::size_t level = 0; level < steps_.size(); ++level) {
      for_each_rule([&](const Rule& rule) {
        if (level_of(rule.expression) == level) schedule(rule.expression, level);
      });
    }
    for (std::size_t level = 0; level < steps_.size(); ++level)
      programs_[level] = StepProgram::compile(steps_[level], places_.memory());
    for_each_rule([&](const Rule& rule) { look_ahead(rule.expression); });
    values_ = places_.memory().values();
    bounds_ = places_.memory().bounds();
    for (std::size_t i = 0; i < numbers_.size(); ++i) leave_open(i);
  }

  std::optional<std::vector<Variant>> run() {
    if (!descend(0)) return std::nullopt;
    return std::move(variants_);
  }

 private:
  struct Derived {
    StepProgram::Step step;
    std::size_t level;               ///< parameters that have values before it does
    std::vector<std::size_t> needs;  ///< earlier ones, not known by themselves
    bool scheduled = false;
  };

  template <typename Visit>
  void for_each_rule(const Visit& visit) const {
    for (const auto* rules : {&definition_.constraints, &definition_.policy, &definition_.legality})
      std::for_each(rules->begin(), rules->end(), visit);
    if (definition_.limits_to_preset()) std::for_each(definition_.preset.begin(), definition_.preset.end(), visit);
  }

  void add_derived(const NamedExpression& entry) {
    const std::size_t level = level_of(entry.expression);
    const StepProgram::Step step = places_.add_step(entry);
    std::vector<std::size_t> needs = needs_of(step);
    levels_.resize(places_.memory().known().size());
    levels_[*step.target] = level;
    derived_.push_back({step, level, std::move(needs)});
  }

  [[nodiscard]] std::vector<std::uint32_t> unknown_places(const StepProgram::Step& step) const {
    return StepProgram::unknown_places(step.expression, step.places, places_.memory());
  }

  /// Derived values that a step uses itself.
  [[nodiscard]] std::vector<std::size_t> needs_of(const StepProgram::Step& step) const {
    std::vector<std::size_t> out;
    for (const std::uint32_t place : unknown_places(step)) {
      for (std::size_t i = 0; i < derived_.size(); ++i) {
        if (*derived_[i].step.target == place) out.push_back(i);
      }
    }
    return out;
  }

  [[nodiscard]] std::size_t level_of(const Expression& expression) const {
    std::size_t level = 0;
    for (const std::uint32_t place : unknown_places(places_.rule(expression))) level = std::max(level, levels_[place]);
    return level;
  }

  /// Adds a rule to a level, and what computes the derived values that it needs to the levels where those can be had.
  void schedule(const Expression& expression, std::size_t level) {
    const StepProgram::Step rule = places_.rule(expression);
    for (const std::size_t needed : needs_of(rule)) schedule_derived(needed);
    steps_[level].push_back(rule);
  }

  void schedule_derived(std::size_t index) {
    Derived& own = derived_[index];
    if (own.scheduled) return;
    own.scheduled = true;
    for (const std::size_t needed : own.needs) schedule_derived(needed);
    steps_[own.level].push_back(own.step);
  }

  /// As RuleSchedule::look_ahead(), with rules as they are on this problem.
  void look_ahead(const Expression& expression) {
    const StepProgram::Step rule = places_.rule(expression);
    if (!has_bounds(rule)) return;
    std::vector<bool> needed(derived_.size()), parameters(steps_.size());
    std::size_t decided = 0;  // from here on everything that has no bounds by itself is known
    const auto add = [&](const StepProgram::Step& step) {
      for (const std::uint32_t place : unknown_places(step)) {
        const std::size_t parameter = place - places_.parameter(0);
        if (parameter < numbers_.size()) parameters[parameter + 1] = true;
      }
      for (const std::size_t index : needs_of(step)) needed[index] = true;
    };
    add(rule);
    std::vector<StepProgram::Step> steps;
    for (std::size_t i = derived_.size(); i-- > 0;) {
      if (!needed[i]) continue;
      add(derived_[i].step);
      if (!has_bounds(derived_[i].step)) decided = std::max(decided, derived_[i].level);
      steps.push_back(derived_[i].step);
    }
    std::reverse(steps.begin(), steps.end());
    steps.push_back(rule);
    constexpr std::ptrdiff_t kFewest = 4;  // of fewer it costs more than it saves
    if (std::count(parameters.begin(), parameters.end(), true) < kFewest) return;
    const std::size_t level = level_of(expression);
    std::ptrdiff_t bound = 0;
    for (std::size_t at = 0; at < level; ++at) {
      bound += parameters[at] ? 1 : 0;
      if (parameters[at] && at >= decided && bound > 1)
        outlooks_[at].push_back(StepProgram::compile(steps, places_.memory()));
    }
  }

  [[nodiscard]] bool has_bounds(const StepProgram::Step& step) const {
    return StepProgram::has_bounds(step.expression, step.places, places_.memory());
  }

  /// A parameter that has no value yet may have any of its own.
  void leave_open(std::size_t parameter) {
    const auto& numbers = numbers_[parameter];
    const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
    bounds_[places_.parameter(parameter)] = {*low, *high};
  }

  /// Everything below the values of the first `bound` parameters; false where it has to be given up.
  bool descend(std::size_t bound) {
    if (++walked_ > kMaxSteps) return false;
    const StepProgram::End end = programs_[bound].run(values_.data());
    if (end != StepProgram::End::kPassed) return end == StepProgram::End::kRejected;
    if (bound == numbers_.size()) return leaf();
    for (const StepProgram& outlook : outlooks_[bound]) {
      if (outlook.hopeless(bounds_.data())) return true;
    }
    const std::uint32_t place = places_.parameter(bound);
    for (std::size_t i = 0; i < numbers_[bound].size(); ++i) {
      values_[place] = numbers_[bound][i];
      bounds_[place] = {values_[place], values_[place]};
      chosen_[bound] = i;
      if (!descend(bound + 1)) return false;
    }
    leave_open(bound);
    return true;
  }

  bool leaf() {
    if (variants_.size() == kMaxVariants) return false;
    Variant& variant = variants_.emplace_back();
    variant.template_name = definition_.name;
    variant.parameters.reserve(chosen_.size());
    for (std::size_t i = 0; i < chosen_.size(); ++i)
      variant.parameters.push_back({definition_.parameters[i].name, definition_.parameters[i].values[chosen_[i]]});
    return true;
  }

  const TemplateDefinition& definition_;
  Places places_;
  std::vector<std::vector<std::int64_t>> numbers_;  ///< of each parameter's values
  std::vector<std::size_t> levels_;                 ///< by place: parameters that have values before it does
  std::vector<Derived> derived_;
  std::vector<std::vector<StepProgram::Step>> steps_;  ///< by parameters that have values
  std::vector<StepProgram> programs_;                  ///< of these
  std::vector<std::vector<StepProgram>> outlooks_;     ///< one for each later rule that adds up and compares
  std::vector<std::int64_t> values_;
  std::vector<Bounds> bounds_;  ///< of each place in values_, given the parameters that have values
  std::vector<std::size_t> chosen_;
  std::int64_t walked_ = 0;
  std::vector<Variant> variants_;
};

}  // namespace

std::optional<std::vector<Variant>> walk_legal(const TemplateDefinition& definition, const Problem& problem,
                                               const DeviceInfo& device) {
  return LegalWalk(definition, problem, device).run();
}

}  // namespace pgtune::space
