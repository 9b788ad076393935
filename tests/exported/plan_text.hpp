// SPDX-License-Identifier: MIT
// What the interpreter plans, in the words of programs/plan_text.hpp.
#pragma once

#include <string>

#include "tool/pgtune/export/callable_header.hpp"

namespace pgtune::tool::test {

/// "refused" where the variant, as it was built, does not compute the problem on sample_device().
[[nodiscard]] std::string plan_text(const space::TemplateDefinition& definition, const ExportedVariant& variant,
                                    const Problem& problem);

}  // namespace pgtune::tool::test
