// SPDX-License-Identifier: MIT
// Variants that were recorded under a template's former names, in its present ones.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tuner/template/template_definition.hpp"

namespace pgtune::space {

/// The variant that `key` ("BM=128,SPLIT=0") named when it was recorded: each parameter by its present or a former
/// name, none twice and none left out but those that the template has gained since and declares (`absent`). Nothing
/// where the key names another set of parameters or a value that the template has no more.
[[nodiscard]] std::optional<Variant> recorded_variant(const TemplateDefinition& definition, std::string_view key);

/// recorded_variant()'s id. What names no variant of the template keeps its key: its id is nobody's then.
[[nodiscard]] std::string recorded_variant_id(const TemplateDefinition& definition, std::string_view key);

}  // namespace pgtune::space
