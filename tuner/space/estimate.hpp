// SPDX-License-Identifier: MIT
// What a template says of a variant before it is measured.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tuner/template/template_definition.hpp"

namespace pgtune::space {

/// Bytes a launch of all kernels reads through L2, by the template's "traffic"; nothing where the template does not
/// say. Errors (usage): an expression that fails, a negative result.
[[nodiscard]] Result<std::optional<double>> l2_bytes(const TemplateDefinition& definition, const Variant& variant,
                                                     const Problem& problem, const DeviceInfo& device);

/// A first guess at a launch's time in clocks, by the template's "cost"; nothing where it has none. It orders variants
/// of one template; it is no prediction. Errors as above.
[[nodiscard]] Result<std::optional<double>> cost_clocks(const TemplateDefinition& definition, const Variant& variant,
                                                        const Problem& problem, const DeviceInfo& device);

/// The same of many variants, many times faster.
[[nodiscard]] Result<std::vector<std::optional<double>>> cost_clocks(const TemplateDefinition& definition,
                                                                     std::span<const Variant> variants,
                                                                     const Problem& problem, const DeviceInfo& device);

/// Which of the variants the template's preset holds worth trying, whether or not a search is limited to those. Errors
/// (usage): a variant of another template, a derived value or value that fails.
[[nodiscard]] Result<std::vector<bool>> in_preset(const TemplateDefinition& definition,
                                                  std::span<const Variant> variants, const Problem& problem,
                                                  const DeviceInfo& device);

}  // namespace pgtune::space
