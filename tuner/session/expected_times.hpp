// SPDX-License-Identifier: MIT
// Times of variants predicted from other searches: before any of them is measured, and at the power cap once they were
// screened.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tuner/model/problem.hpp"
#include "tuner/search/predictor.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::session {

/// One template's variants by features and cost. Errors (usage): an expression that fails.
[[nodiscard]] Result<search::DescribedVariants> described(const space::TemplateDefinition& definition,
                                                          const Problem& problem, const DeviceInfo& device,
                                                          std::span<const Variant> variants);

/// What `predictor` expects of `variants`, which lie one template after another; on all cores but one. Where it has
/// seen other kinds of GPU only, or never one of the templates, it counts as twice as far off, so that a search
/// explores more. Errors as above.
[[nodiscard]] Result<search::Expectation> expected_times(const search::Predictor& predictor,
                                                         const space::TemplateSet& templates, const Problem& problem,
                                                         const DeviceInfo& device, std::span<const Variant> variants);

/// A sentence on what the expectations of a search rest on.
[[nodiscard]] std::string expectation_note(const search::Predictor& predictor, const space::TemplateSet& templates,
                                           const DeviceInfo& device);

/// The time that each variant may be expected to take in settled samples at the power cap: the cycles it was screened
/// with, which hardly change from there, over the clock that its power leaves it, which `clocks` was trained on
/// (tool/pgtune/learning/settled_clocks.hpp). Of these times only the ratios mean something; 0 where `cycles`, one for
/// each variant, is 0. Variants lie in any order. Errors (usage): an expression of a template that fails.
[[nodiscard]] Result<std::vector<double>> expected_settled_times(const search::Predictor& clocks,
                                                                 const space::TemplateSet& templates,
                                                                 const Problem& problem, const DeviceInfo& device,
                                                                 std::span<const Variant> variants,
                                                                 std::span<const double> cycles);

}  // namespace pgtune::session
