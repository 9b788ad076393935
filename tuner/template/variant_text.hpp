// SPDX-License-Identifier: MIT
// A variant from text that a person or a template's author wrote.
#pragma once

#include <string_view>

#include "tuner/template/template_definition.hpp"

namespace pgtune::space {

/// Parses "BM=128,BN=64" over the template's defaults for parameters not named. Errors name the bad part.
[[nodiscard]] Result<Variant> parse_variant(const TemplateDefinition& definition, std::string_view text);

}  // namespace pgtune::space
