// SPDX-License-Identifier: MIT
// What a search stores and asks for, under the names by which the database finds it: a variant by its key and its
// template's content, results by what may be reused.
#pragma once

#include <optional>

#include "db/queries/queries.hpp"
#include "tuner/session/store.hpp"

namespace pgtune::tool {

/// This program and the system it runs on.
[[nodiscard]] db::Program this_program();
/// The key of results of `searched`, of every board of the class: one of the key's templates, or the id of all of them.
[[nodiscard]] db::ResultKey result_key(const session::StoreKey& key, const space::TemplateId& searched);
// Of a variant of one of `templates`.
[[nodiscard]] db::VariantRow variant_row(const Variant& variant, const space::TemplateSet& templates);
[[nodiscard]] db::TrialRow trial_row(const Variant& variant, const space::TemplateSet& templates,
                                     const BuildInfo& build, const TrialReport& report);
[[nodiscard]] db::ContenderRow contender_row(const Contender& contender, const space::TemplateSet& templates);

}  // namespace pgtune::tool
