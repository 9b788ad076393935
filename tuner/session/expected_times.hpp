// SPDX-License-Identifier: MIT
// What other searches let expect of variants before any of them is measured.
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

}  // namespace pgtune::session
