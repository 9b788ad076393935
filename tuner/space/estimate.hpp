// SPDX-License-Identifier: MIT
// A template's estimates for a variant before it is measured.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tuner/template/template_definition.hpp"

namespace pgtune::space {

/// Bytes that a launch of all kernels reads through L2, by the template's "traffic"; nothing if it has none. Errors
/// (usage): an expression that fails, a negative result.
[[nodiscard]] Result<std::optional<double>> l2_bytes(const TemplateDefinition& definition, const Variant& variant,
                                                     const Problem& problem, const DeviceInfo& device);

/// Bytes that they copy into shared memory: more than they read through L2, where a multicast brings some to several
/// CTAs. The same errors.
[[nodiscard]] Result<std::optional<double>> smem_bytes(const TemplateDefinition& definition, const Variant& variant,
                                                       const Problem& problem, const DeviceInfo& device);

/// A rough estimate of a launch's time in clocks, by the template's "cost"; nothing if it has none. It only orders
/// variants of one template. The same errors.
[[nodiscard]] Result<std::optional<double>> cost_clocks(const TemplateDefinition& definition, const Variant& variant,
                                                        const Problem& problem, const DeviceInfo& device);

/// The same for many variants, many times faster.
[[nodiscard]] Result<std::vector<std::optional<double>>> cost_clocks(const TemplateDefinition& definition,
                                                                     std::span<const Variant> variants,
                                                                     const Problem& problem, const DeviceInfo& device);

/// Which of the variants pass the template's preset, whether or not a search is limited to those. Errors (usage): a
/// variant of another template, a derived value or value that fails.
[[nodiscard]] Result<std::vector<bool>> in_preset(const TemplateDefinition& definition,
                                                  std::span<const Variant> variants, const Problem& problem,
                                                  const DeviceInfo& device);

}  // namespace pgtune::space
