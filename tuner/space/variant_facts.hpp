// SPDX-License-Identifier: MIT
// What tells whether one kernel can serve several problems: whether a variant is legal for a problem, what is compiled
// for it, and its estimated time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tuner/space/template_set.hpp"

namespace pgtune::space {

enum class WithCosts { kYes, kNo };  ///< No: clocks are 0, which takes a third of the time

struct VariantFacts {
  bool legal = false;
  /// Equal for problems that one build serves, which the template compiles alike with Edges::kAlways; 0 if illegal.
  std::uint64_t build = 0;
  double clocks = 0;  ///< the template's estimate; 0 if it has none, or the variant is illegal
};

/// For each of `variants`, in any order. A rule, a define or a cost that cannot be evaluated makes a variant illegal.
/// Precondition: the variants are the templates' and keep their constraints.
[[nodiscard]] std::vector<VariantFacts> variant_facts(const TemplateSet& templates, std::span<const Variant> variants,
                                                      const Problem& problem, const DeviceInfo& device,
                                                      WithCosts costs = WithCosts::kYes);

}  // namespace pgtune::space
