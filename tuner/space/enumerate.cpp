// SPDX-License-Identifier: MIT
// Backtracking over a template's space.
#include "tuner/space/enumerate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/space/legal_walk.hpp"
#include "tuner/space/rule_schedule.hpp"
#include "tuner/space/walk_limits.hpp"
#include "tuner/template/variant_check.hpp"

namespace pgtune::space {
namespace {

/// Product of the numbers of values of the parameters from each on; nothing where it does not fit.
std::optional<std::vector<std::int64_t>> points_below(const TemplateDefinition& definition) {
  std::vector<std::int64_t> below(definition.parameters.size() + 1, 1);
  for (std::size_t i = below.size() - 1; i-- > 0;) {
    const auto count = static_cast<std::int64_t>(definition.parameters[i].values.size());
    if (__builtin_mul_overflow(below[i + 1], count, &below[i])) return std::nullopt;
  }
  return below;
}

class Walk {
 public:
  Walk(const TemplateDefinition& definition, const Problem& problem, const DeviceInfo& device)
      : definition_(definition),
        schedule_(definition, problem, device, RuleSchedule::Rules::kSearch),
        values_(schedule_.initial_values()),
        current_(definition.default_variant()) {
    for (const Parameter& parameter : definition.parameters) {
      auto& numbers = numeric_values_.emplace_back();
      for (const ParameterValue& value : parameter.values) numbers.push_back(numeric_value(value));
    }
    for (const std::int64_t value : values_) bounds_.push_back({value, value});
    for (std::size_t i = 0; i < numeric_values_.size(); ++i) leave_open(i);
    add_removals(definition.constraints, Removal::Kind::kConstraint);
    add_removals(definition.policy, Removal::Kind::kPolicy);
    add_removals(definition.legality, Removal::Kind::kLegality);
    if (definition.limits_to_preset()) add_removals(definition.preset, Removal::Kind::kPreset);
  }

  Result<Enumeration> run() {
    auto below = points_below(definition_);
    if (!below) {
      return fail(ErrorKind::kUsage,
                  fmt::format("the space of '{}' has more than 2^63 points; list fewer values", definition_.name));
    }
    below_ = std::move(*below);
    out_.space = below_[0];
    if (auto walked = descend(0); !walked) return tl::unexpected<Error>(std::move(walked.error()));
    return std::move(out_);
  }

 private:
  void add_removals(const std::vector<Rule>& rules, Removal::Kind kind) {
    for (const Rule& rule : rules)
      out_.removals.push_back({definition_.name, rule.expression.text(), rule.reason, kind, 0});
  }

  /// Everything below the values of the first `bound` parameters.
  Result<void> descend(std::size_t bound) {
    if (++steps_ > kMaxSteps) {
      return fail(ErrorKind::kUsage,
                  fmt::format("the space of '{}' is too large to walk ({} points): list fewer values, or put the "
                              "parameters that constraints tie together next to each other",
                              definition_.name, out_.space));
    }
    const auto removed = RuleSchedule::run(schedule_.constraints_after(bound), values_);
    if (!removed) return with_values(removed.error(), bound);
    if (*removed) {
      out_.removals[**removed].removed += below_[bound];
      return {};
    }
    if (bound == numeric_values_.size()) return leaf();
    for (const RuleSchedule::Outlook& outlook : schedule_.outlooks_after(bound)) {
      if (const auto hopeless = RuleSchedule::hopeless(outlook, bounds_)) {
        out_.removals[*hopeless].removed += below_[bound];
        return {};
      }
    }
    const std::size_t slot = schedule_.parameter_slot(bound);
    for (std::size_t i = 0; i < numeric_values_[bound].size(); ++i) {
      values_[slot] = numeric_values_[bound][i];
      bounds_[slot] = {values_[slot], values_[slot]};
      current_.parameters[bound].value = definition_.parameters[bound].values[i];
      if (auto walked = descend(bound + 1); !walked) return walked;
    }
    leave_open(bound);
    return {};
  }

  /// A parameter that has no value yet may have any of its own.
  void leave_open(std::size_t parameter) {
    const auto& numbers = numeric_values_[parameter];
    const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
    bounds_[schedule_.parameter_slot(parameter)] = {*low, *high};
  }

  Result<void> leaf() {
    ++out_.after_constraints;
    const auto removed = RuleSchedule::run(schedule_.legality(), values_);
    if (!removed) return with_values(removed.error(), numeric_values_.size());
    if (*removed) {
      ++out_.removals[**removed].removed;
      return {};
    }
    ++out_.legal;
    const auto left_out = RuleSchedule::run(schedule_.preset(), values_);
    if (!left_out) return with_values(left_out.error(), numeric_values_.size());
    if (*left_out) {
      ++out_.removals[**left_out].removed;
      return {};
    }
    if (out_.variants.size() == kMaxVariants) {
      return fail(ErrorKind::kUsage,
                  fmt::format("the space of '{}' has more than {} legal variants; add constraints or "
                              "list fewer values",
                              definition_.name, kMaxVariants));
    }
    out_.variants.push_back(current_);
    return {};
  }

  [[nodiscard]] tl::unexpected<Error> with_values(Error error, std::size_t bound) const {
    std::string values;
    for (std::size_t i = 0; i < bound; ++i) {
      const Assignment& assignment = current_.parameters[i];
      values += fmt::format("{}{}={}", i == 0 ? "" : ",", assignment.name, to_string(assignment.value));
    }
    if (!values.empty()) error.message += "\n  with " + values;
    return fail(std::move(error), fmt::format("template '{}'", definition_.name));
  }

  const TemplateDefinition& definition_;
  RuleSchedule schedule_;
  std::vector<std::int64_t> values_;
  std::vector<std::vector<std::int64_t>> numeric_values_;
  std::vector<Bounds> bounds_;       ///< of each place in values_, given the parameters that have values
  std::vector<std::int64_t> below_;  ///< points of a subtree whose first i parameters are bound
  Variant current_;
  std::int64_t steps_ = 0;
  Enumeration out_;
};

}  // namespace

Result<Enumeration> enumerate(const TemplateDefinition& definition, const Problem& problem, const DeviceInfo& device) {
  if (auto checked = check_problem(definition, problem); !checked) return tl::unexpected<Error>(checked.error());
  return Walk(definition, problem, device).run();
}

Result<VariantList> legal_variants(const TemplateDefinition& definition, const Problem& problem,
                                   const DeviceInfo& device) {
  if (auto checked = check_problem(definition, problem); !checked) return tl::unexpected<Error>(checked.error());
  if (const auto below = points_below(definition)) {
    if (auto variants = walk_legal(definition, problem, device))
      return VariantList{below->front(), std::move(*variants)};
  }
  return Walk(definition, problem, device).run();
}

Result<std::optional<std::string>> why_illegal(const TemplateDefinition& definition, const Variant& variant,
                                               const Problem& problem, const DeviceInfo& device) {
  if (auto checked = check_problem(definition, problem); !checked) return tl::unexpected<Error>(checked.error());
  if (auto checked = check_variant(definition, variant); !checked) return tl::unexpected<Error>(checked.error());
  const RuleSchedule schedule(definition, problem, device, RuleSchedule::Rules::kLegal);
  std::vector<std::int64_t> values = schedule.initial_values();
  const std::size_t count = variant.parameters.size();
  for (std::size_t i = 0; i < count; ++i) {
    values[schedule.parameter_slot(i)] = numeric_value(variant.parameters[i].value);
  }
  for (std::size_t level = 0; level <= count + 1; ++level) {
    const bool legality = level > count;
    const auto removed = RuleSchedule::run(legality ? schedule.legality() : schedule.constraints_after(level), values);
    if (!removed) return fail(removed.error(), fmt::format("variant '{}'", variant.key()));
    if (!*removed) continue;
    const std::size_t rule = **removed;
    return legality ? definition.legality[rule - definition.constraints.size()].reason
                    : definition.constraints[rule].reason;
  }
  return std::nullopt;
}

}  // namespace pgtune::space
