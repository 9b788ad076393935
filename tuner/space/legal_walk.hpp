// SPDX-License-Identifier: MIT
// The variants of a space, without counting what removed the others. Private to tuner/space.
#pragma once

#include <optional>
#include <vector>

#include "tuner/template/template_definition.hpp"

namespace pgtune::space {

/// The variants of enumerate() in its order. Every rule, whatever its kind, is compiled for the problem and applied as
/// soon as what it depends on there has values, or bounds show that it cannot hold. Nothing where an expression faults
/// on the way or there are too many points or variants: enumerate() tells.
[[nodiscard]] std::optional<std::vector<Variant>> walk_legal(const TemplateDefinition& definition,
                                                             const Problem& problem, const DeviceInfo& device);

}  // namespace pgtune::space
