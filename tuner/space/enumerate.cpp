// SPDX-License-Identifier: MIT
// Backtracking over a template's space.
#include "tuner/space/enumerate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "tuner/space/places.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/space/variant_scope.hpp"
#include "tuner/template/variant_check.hpp"
#include "tuner/util/host_limits.hpp"
#include "tuner/util/parallel.hpp"

namespace pgtune::space {
namespace {

/// A search can neither store nor try more; each variant takes about a kilobyte.
constexpr std::size_t kMaxVariants = 1'000'000;
/// About half a minute of walking.
constexpr std::int64_t kMaxSteps = 400'000'000;

const char* word_of(Removal::Kind kind) {
  switch (kind) {
    case Removal::Kind::kConstraint:
      return "constraint";
    case Removal::Kind::kPolicy:
      return "policy rule";
    case Removal::Kind::kLegality:
      return "legality rule";
    case Removal::Kind::kLaunch:
      return "launch";
    case Removal::Kind::kPreset:
      break;
  }
  return "preset rule";
}

/// For each parameter, the product of the numbers of values from it on; nothing on overflow.
std::optional<std::vector<std::int64_t>> points_below(const TemplateDefinition& definition) {
  std::vector<std::int64_t> below(definition.parameters.size() + 1, 1);
  for (std::size_t i = below.size() - 1; i-- > 0;) {
    const auto count = static_cast<std::int64_t>(definition.parameters[i].values.size());
    if (__builtin_mul_overflow(below[i + 1], count, &below[i])) return std::nullopt;
  }
  return below;
}

/// Each rule is checked as soon as all its names have values, and before that by the bounds of its value.
class Walk {
 public:
  /// kList: only the variants, many times faster; all rules cut branches, in the order that cuts most. kCount: rules of
  /// legality and preset are checked on whole points that passed the rules before them, and each rule's removals are
  /// counted.
  enum class Purpose { kList, kCount };

  Walk(const TemplateDefinition& definition, const Problem& problem, const DeviceInfo& device, Purpose purpose)
      : definition_(definition),
        counts_(purpose == Purpose::kCount),
        places_(definition, problem, device),
        chosen_(definition.parameters.size()) {
    for (const Parameter& parameter : definition.parameters) {
      auto& numbers = numbers_.emplace_back();
      for (const ParameterValue& value : parameter.values) numbers.push_back(numeric_value(value));
    }
    levels_.resize(places_.memory().known().size());
    for (std::size_t i = 0; i < numbers_.size(); ++i) levels_[places_.parameter(i)] = i + 1;
    for (const NamedExpression& entry : definition.derived) add_derived(entry);
    checks_.resize(preset_level() + 1);
    outlooks_.resize(legality_level());
    // Levels ascend, so a derived value comes after the rules that guard it.
    for (std::size_t level = 0; level < checks_.size(); ++level) {
      for_each_rule([&](const Rule& rule, Removal::Kind kind, std::size_t number) {
        if (level_of(rule, kind) == level) schedule(rule, level, number);
      });
    }
    for (std::vector<Check>& checks : checks_) {
      for (Check& check : checks) check.program = StepProgram::compile(check.steps, places_.memory());
    }
    for_each_rule([&](const Rule& rule, Removal::Kind kind, std::size_t number) {
      if (level_of(rule, kind) < legality_level()) look_ahead(rule, number);
      if (counts_) out_.removals.push_back({definition_.name, rule.expression.text(), rule.reason, kind, 0});
    });
    values_ = places_.memory().values();
    bounds_ = places_.memory().bounds();
    for (std::size_t i = 0; i < numbers_.size(); ++i) leave_open(i);
  }

  /// Errors (usage): a space that is too large, an expression that fails. Works once.
  Result<Enumeration> run() {
    auto below = points_below(definition_);
    if (!below) {
      return fail(ErrorKind::kUsage,
                  fmt::format("the space of '{}' has more than 2^63 points; list fewer values", definition_.name));
    }
    below_ = std::move(*below);
    out_.space = below_[0];
    TRY(descend(0));
    return std::move(out_);
  }

 private:
  static constexpr std::size_t kNoRule = std::numeric_limits<std::size_t>::max();

  /// Steps that run together; with kCount a single rule or derived value.
  struct Check {
    std::vector<StepProgram::Step> steps;
    std::size_t rule = kNoRule;  ///< its index in out_.removals, with kCount
    StepProgram program = {};
  };
  struct Outlook {
    StepProgram program;
    std::size_t rule;
  };
  struct Derived {
    StepProgram::Step step;
    std::size_t level;               ///< number of parameters with values before it has one
    std::vector<std::size_t> needs;  ///< earlier steps with unknown values
    bool scheduled = false;
  };

  /// With kCount, behind the levels of parameters.
  [[nodiscard]] std::size_t legality_level() const { return numbers_.size() + 1; }
  [[nodiscard]] std::size_t preset_level() const { return numbers_.size() + 2; }

  /// Calls visit(rule, kind, number) in an order in which each rule may rely on those before it.
  template <typename Visit>
  void for_each_rule(const Visit& visit) const {
    std::size_t number = 0;
    const auto all_of = [&](const std::vector<Rule>& rules, Removal::Kind kind) {
      for (const Rule& rule : rules) visit(rule, kind, number++);
    };
    all_of(definition_.constraints, Removal::Kind::kConstraint);
    all_of(definition_.policy, Removal::Kind::kPolicy);
    all_of(definition_.legality, Removal::Kind::kLegality);
    if (definition_.limits_to_preset()) all_of(definition_.preset, Removal::Kind::kPreset);
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
  [[nodiscard]] std::size_t level_of(const Rule& rule, Removal::Kind kind) const {
    if (counts_ && kind == Removal::Kind::kLegality) return legality_level();
    if (counts_ && kind == Removal::Kind::kPreset) return preset_level();
    return level_of(rule.expression);
  }

  /// Adds a rule to a level. The steps for its derived values go to the levels where they can be computed, or right
  /// before the rule if it is checked on whole points only.
  void schedule(const Rule& rule, std::size_t level, std::size_t number) {
    const StepProgram::Step step = places_.rule(rule.expression);
    for (const std::size_t needed : needs_of(step)) schedule_derived(needed, level);
    add_step(level, step, counts_ ? number : kNoRule);
  }

  void schedule_derived(std::size_t index, std::size_t level_of_rule) {
    Derived& own = derived_[index];
    if (own.scheduled) return;
    own.scheduled = true;
    for (const std::size_t needed : own.needs) schedule_derived(needed, level_of_rule);
    add_step(level_of_rule < legality_level() ? own.level : level_of_rule, own.step, kNoRule);
  }

  void add_step(std::size_t level, const StepProgram::Step& step, std::size_t rule) {
    std::vector<Check>& checks = checks_[level];
    if (checks.empty() || counts_) checks.push_back({{}, rule});
    checks.back().steps.push_back(step);
  }

  /// Looks ahead at a rule from the levels before its own on.
  void look_ahead(const Rule& own, std::size_t number) {
    const StepProgram::Step rule = places_.rule(own.expression);
    if (!has_bounds(rule)) return;
    std::vector<bool> needed(derived_.size()), parameters(legality_level());
    std::size_t decided = 0;  // from here on every name without bounds is known
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
    constexpr std::ptrdiff_t kFewest = 4;  // for fewer points it costs more than it saves
    if (std::count(parameters.begin(), parameters.end(), true) < kFewest) return;
    const std::size_t level = level_of(own.expression);
    std::ptrdiff_t bound = 0;
    for (std::size_t at = 0; at < level; ++at) {
      bound += parameters[at] ? 1 : 0;
      if (parameters[at] && at >= decided && bound > 1)
        outlooks_[at].push_back({StepProgram::compile(steps, places_.memory()), counts_ ? number : kNoRule});
    }
  }

  [[nodiscard]] bool has_bounds(const StepProgram::Step& step) const {
    return StepProgram::has_bounds(step.expression, step.places, places_.memory());
  }

  /// A parameter without a value may take any of its values.
  void leave_open(std::size_t parameter) {
    const auto& numbers = numbers_[parameter];
    const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
    bounds_[places_.parameter(parameter)] = {*low, *high};
  }

  /// Visits all points with the current values of the first `bound` parameters.
  Result<void> descend(std::size_t bound) {
    if (++walked_ > kMaxSteps) {
      return fail(ErrorKind::kUsage,
                  fmt::format("the space of '{}' is too large to walk ({} points): list fewer values, or put the "
                              "parameters that constraints tie together next to each other",
                              definition_.name, out_.space));
    }
    TRY_ASSIGN(const auto passes, pass(bound, bound));
    if (!passes) return {};
    if (bound == numbers_.size()) return leaf();
    for (const Outlook& outlook : outlooks_[bound]) {
      if (!outlook.program.hopeless(bounds_.data())) continue;
      remove(outlook.rule, bound);
      return {};
    }
    const std::uint32_t place = places_.parameter(bound);
    for (std::size_t i = 0; i < numbers_[bound].size(); ++i) {
      values_[place] = numbers_[bound][i];
      bounds_[place] = {values_[place], values_[place]};
      chosen_[bound] = i;
      if (auto walked = descend(bound + 1); !walked) return walked;
    }
    leave_open(bound);
    return {};
  }

  Result<void> leaf() {
    const std::size_t bound = numbers_.size();
    ++out_.after_constraints;
    TRY_ASSIGN(const auto legal, pass(legality_level(), bound));
    if (!legal) return {};
    ++out_.legal;
    TRY_ASSIGN(const auto in_preset, pass(preset_level(), bound));
    if (!in_preset) return {};
    if (out_.variants.size() == kMaxVariants) {
      return fail(ErrorKind::kUsage,
                  fmt::format("the space of '{}' has more than {} legal variants; add constraints or "
                              "list fewer values",
                              definition_.name, kMaxVariants));
    }
    Variant& variant = out_.variants.emplace_back();
    variant.template_name = definition_.name;
    variant.parameters.reserve(bound);
    for (std::size_t i = 0; i < bound; ++i) variant.parameters.push_back(assignment(i));
    return {};
  }

  /// Whether the first `bound` parameters' values pass the checks of `level`.
  Result<bool> pass(std::size_t level, std::size_t bound) {
    for (const Check& check : checks_[level]) {
      const StepProgram::End end = check.program.run(values_.data());
      if (end == StepProgram::End::kPassed) continue;
      if (end == StepProgram::End::kFault) return fault(check, bound);
      remove(check.rule, bound);
      return false;
    }
    return true;
  }

  void remove(std::size_t rule, std::size_t bound) {
    if (rule != kNoRule) out_.removals[rule].removed += below_[bound];
  }

  /// Evaluates the steps again to get the error.
  [[nodiscard]] tl::unexpected<Error> fault(const Check& check, std::size_t bound) {
    Error error;
    for (const StepProgram::Step& step : check.steps) {
      auto value = step.expression.evaluate(values_, step.places);
      if (!value) {
        error = std::move(value.error());
        error.context.push_back(what(step, check.rule));
        break;
      }
      if (step.target) values_[*step.target] = *value;
    }
    std::string values;
    for (std::size_t i = 0; i < bound; ++i) {
      const Assignment own = assignment(i);
      values += fmt::format("{}{}={}", i == 0 ? "" : ",", own.name, to_string(own.value));
    }
    if (!values.empty()) error.message += "\n  with " + values;
    return fail(std::move(error), fmt::format("template '{}'", definition_.name));
  }

  /// A step's name in messages.
  [[nodiscard]] std::string what(const StepProgram::Step& step, std::size_t rule) const {
    for (std::size_t i = 0; i < derived_.size(); ++i) {
      if (step.target && derived_[i].step.target == step.target)
        return fmt::format("derived value '{}'", definition_.derived[i].name);
    }
    return rule == kNoRule ? "rule" : word_of(out_.removals[rule].kind);
  }

  [[nodiscard]] Assignment assignment(std::size_t parameter) const {
    const Parameter& own = definition_.parameters[parameter];
    return {own.name, own.values[chosen_[parameter]]};
  }

  const TemplateDefinition& definition_;
  bool counts_;
  Places places_;
  std::vector<std::vector<std::int64_t>> numbers_;  ///< of each parameter's values
  std::vector<std::size_t> levels_;                 ///< by place: parameters that have values before it does
  std::vector<Derived> derived_;
  std::vector<std::vector<Check>> checks_;  ///< by parameters that have values, then legality, then preset
  std::vector<std::vector<Outlook>> outlooks_;
  std::vector<std::int64_t> values_;
  std::vector<Bounds> bounds_;       ///< bounds of each place in values_, given the parameters with values
  std::vector<std::int64_t> below_;  ///< points of a subtree whose first i parameters are bound
  std::vector<std::size_t> chosen_;
  std::int64_t walked_ = 0;
  Enumeration out_;
};

/// Computes the derived values that `expression` needs and the scope lacks.
Result<void> add_derived(const Expression& expression, const TemplateDefinition& definition, VariantScope& scope) {
  for (const std::string& name : expression.names()) {
    if (scope.value(name)) continue;
    const auto entry = std::find_if(definition.derived.begin(), definition.derived.end(),
                                    [&](const NamedExpression& own) { return own.name == name; });
    if (auto added = add_derived(entry->expression, definition, scope); !added) return added;
    auto value = entry->expression.evaluate(scope);
    if (!value) return fail(std::move(value.error()), fmt::format("derived value '{}'", name));
    scope.set(entry->name, *value);
  }
  return {};
}

/// The first of `rules` that is zero.
Result<const Rule*> first_broken(const std::vector<Rule>& rules, Removal::Kind kind,
                                 const TemplateDefinition& definition, VariantScope& scope) {
  for (const Rule& rule : rules) {
    TRY(add_derived(rule.expression, definition, scope));
    auto value = rule.expression.evaluate(scope);
    if (!value) return fail(std::move(value.error()), word_of(kind));
    if (*value == 0) return &rule;
  }
  return nullptr;
}

/// Errors of one field that begin alike are counted together, with the first variant: numbers in them differ. The first
/// word says what they are of, such as "grid.y".
void count_without_launch(Enumeration& space, const Variant& variant, const Error& error) {
  const std::string field = error.context.empty() ? "launch" : error.context.front();
  const std::string cause = error.message.substr(0, error.message.find('\n'));
  const std::string same = fmt::format("{}: {}", field, cause.substr(0, cause.find(' ')));
  auto removal = std::find_if(space.removals.begin(), space.removals.end(), [&](const Removal& other) {
    return other.kind == Removal::Kind::kLaunch && other.reason.starts_with(same);
  });
  if (removal == space.removals.end()) {
    const std::string reason = fmt::format("{}: {}; first with {}", field, cause, variant.key());
    removal = space.removals.insert(removal, {variant.template_name, field, reason, Removal::Kind::kLaunch, 0});
  }
  ++removal->removed;
}

void remove_without_launch(Enumeration& space, const TemplateDefinition& definition, const Problem& problem,
                           const DeviceInfo& device) {
  std::vector<std::optional<Error>> errors(space.variants.size());
  in_parallel(errors.size(), usable_cores(), [&](std::size_t i) {
    if (auto plan = make_launch_plan(definition, space.variants[i], problem, device); !plan) {
      errors[i] = std::move(plan.error());
    } else if (auto defines = make_defines(definition, space.variants[i], problem, device); !defines) {
      errors[i] = std::move(defines.error());
    }
  });
  std::size_t i = 0;
  space.legal -= static_cast<std::int64_t>(std::erase_if(space.variants, [&](const Variant& variant) {
    const std::optional<Error>& error = errors[i++];
    if (error) count_without_launch(space, variant, *error);
    return error.has_value();
  }));
}

}  // namespace

Result<Enumeration> enumerate(const TemplateDefinition& definition, const Problem& problem, const DeviceInfo& device) {
  TRY(check_problem(definition, problem));
  TRY_ASSIGN(auto space, Walk(definition, problem, device, Walk::Purpose::kCount).run());
  remove_without_launch(space, definition, problem, device);
  return space;
}

Result<VariantList> legal_variants(const TemplateDefinition& definition, const Problem& problem,
                                   const DeviceInfo& device) {
  TRY(check_problem(definition, problem));
  if (auto listed = Walk(definition, problem, device, Walk::Purpose::kList).run()) return std::move(*listed);
  return Walk(definition, problem, device, Walk::Purpose::kCount)
      .run();  // in the order in which rules guard each other
}

Result<std::optional<std::string>> why_illegal(const TemplateDefinition& definition, const Variant& variant,
                                               const Problem& problem, const DeviceInfo& device) {
  TRY_ASSIGN(auto scope, VariantScope::of_facts(definition, variant, problem, device));
  for (const auto& [rules, kind] : {std::pair{&definition.constraints, Removal::Kind::kConstraint},
                                    std::pair{&definition.legality, Removal::Kind::kLegality}}) {
    const auto broken = first_broken(*rules, kind, definition, scope);
    if (!broken) return fail(broken.error(), fmt::format("variant '{}'", variant.key()));
    if (*broken != nullptr) return (*broken)->reason;
  }
  return std::nullopt;
}

}  // namespace pgtune::space
