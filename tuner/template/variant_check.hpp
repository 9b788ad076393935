// SPDX-License-Identifier: MIT
// Checks whether a variant and a problem fit a template's definition. Private to this room.
#pragma once

#include <string>

#include "tuner/template/template_definition.hpp"

namespace pgtune::space {

/// Errors: a parameter missing, unknown or out of order, or a value that is not listed.
[[nodiscard]] Result<void> check_variant(const TemplateDefinition& definition, const Variant& variant);
/// Errors: the template lacks the problem's dtype, output type or epilogue.
[[nodiscard]] Result<void> check_problem(const TemplateDefinition& definition, const Problem& problem);
/// Error: `text` is no value of `parameter`; lists its values.
[[nodiscard]] Error not_a_value(const Parameter& parameter, std::string_view text);

}  // namespace pgtune::space
