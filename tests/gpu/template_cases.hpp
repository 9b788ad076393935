// SPDX-License-Identifier: MIT
// Which templates, and which of their variants, tests take that cannot try them all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/problem.hpp"
#include "tuner/template/template_definition.hpp"

namespace pgtune::gpu {

/// The JSON files of all templates, shipped or kept in the tests, in order.
[[nodiscard]] std::vector<std::filesystem::path> template_files();
/// For space::load_template().
[[nodiscard]] Result<std::string> shipped_header(const std::string& name);

/// The dtypes and outputs a template computes, as problems without a shape.
[[nodiscard]] std::vector<Problem> types_of(const space::TemplateDefinition& definition);
/// Each activation a template fuses, and none at all, with the bias where it adds one; without any where it lists none.
[[nodiscard]] std::vector<Epilogue> epilogues_of(const space::TemplateDefinition& definition);
/// The problem of that shape, leading dimensions and so on with the types of `types`.
[[nodiscard]] Problem with_types(Problem problem, const Problem& types);
[[nodiscard]] Problem problem_of(std::string_view shape, std::string_view layout);

/// The legal variant most like `to`, among those with `fixed` where it is given.
[[nodiscard]] std::optional<Variant> nearest(const std::vector<Variant>& legal, const Variant& to,
                                             const Assignment* fixed);

/// For each parameter's smallest and largest number, or each label, the legal variant most like the default one. Of
/// more than `most` every n-th.
[[nodiscard]] std::vector<Variant> extreme_variants(const space::TemplateDefinition& definition,
                                                    const std::vector<Variant>& legal, std::size_t most);

}  // namespace pgtune::gpu
