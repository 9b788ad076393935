// SPDX-License-Identifier: MIT
// The points of a space worth compiling for a problem on a device, and the reasons against the others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuner/template/template_definition.hpp"

namespace pgtune::space {

/// How many points one rule removed (points already removed by an earlier rule are not counted again).
struct Removal {
  std::string template_name;
  std::string rule;    ///< the expression's text; of kLaunch: the field that fails
  std::string reason;  ///< of kLaunch: the first error, with its variant
  enum class Kind { kConstraint, kPolicy, kLegality, kLaunch, kPreset } kind = Kind::kConstraint;
  std::int64_t removed = 0;
};

struct VariantList {
  std::int64_t space = 0;         ///< Cartesian product of the parameters' values
  std::vector<Variant> variants;  ///< legal ones that pass policy and preset, in the order of their values
};

struct Enumeration : VariantList {
  std::int64_t after_constraints = 0;  ///< and policy
  std::int64_t legal = 0;              ///< of these, for the problem; without those that kLaunch removed
  std::vector<Removal> removals;       ///< in the template's order, including rules that removed nothing; then kLaunch
};

/// Walks the space and applies each constraint and rule of the policy as soon as its names are bound, so that
/// impossible subtrees are skipped (their points are still counted). Of what is left it removes variants whose launch
/// or macros cannot be computed. Errors (usage): an expression that fails, a dtype the template lacks. An empty result
/// is not an error here; the removals explain it.
[[nodiscard]] Result<Enumeration> enumerate(const TemplateDefinition& definition, const Problem& problem,
                                            const DeviceInfo& device);

/// The variants alone, many times faster, because removals per rule are not counted and launches are not computed. An
/// expression that fails at an illegal point is an error only if that point was evaluated.
[[nodiscard]] Result<VariantList> legal_variants(const TemplateDefinition& definition, const Problem& problem,
                                                 const DeviceInfo& device);

/// Why a variant is not legal, ignoring policy and preset: the first failing rule's reason, or nothing. Errors: unknown
/// parameter or value.
[[nodiscard]] Result<std::optional<std::string>> why_illegal(const TemplateDefinition& definition,
                                                             const Variant& variant, const Problem& problem,
                                                             const DeviceInfo& device);

}  // namespace pgtune::space
