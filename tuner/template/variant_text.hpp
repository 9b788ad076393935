// SPDX-License-Identifier: MIT
// Parses a variant from text of a user, a template or the database.
#pragma once

#include <optional>
#include <string_view>

#include "tuner/template/template_definition.hpp"

namespace pgtune::space {

/// Parses "BM=128,BN=64" over the template's defaults for parameters not named. Errors name the bad part.
[[nodiscard]] Result<Variant> parse_variant(const TemplateDefinition& definition, std::string_view text);

/// The variant with key() `key`, which names each parameter once. Nothing if it names other parameters or values, as
/// keys of another version of the template do.
[[nodiscard]] std::optional<Variant> recorded_variant(const TemplateDefinition& definition, std::string_view key);

}  // namespace pgtune::space
