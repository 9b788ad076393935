// SPDX-License-Identifier: MIT
// A template's rules, macros and launch as the C++17 of an exported header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuner/model/source.hpp"
#include "tuner/template/template_definition.hpp"

namespace pgtune::tool {

/// Why kernels of the template cannot be exported, as the end of a sentence; nothing where they can.
[[nodiscard]] std::optional<std::string> why_not_exported(const space::TemplateDefinition& definition);

/// Names of the macros that depend on the problem or the device, in the order of the generated function's `built`.
[[nodiscard]] std::vector<std::string> call_macros(const space::TemplateDefinition& definition);
/// Their values among a build's.
[[nodiscard]] std::vector<std::int64_t> built_values(const space::TemplateDefinition& definition,
                                                     const std::vector<Define>& defines);

/// What the generated code calls the values of the names that the template's expressions may use.
[[nodiscard]] std::string facts_type(const space::TemplateDefinition& definition);

/// The template's kernels by name, each once, in the order that numbers them.
[[nodiscard]] std::vector<std::string> kernel_symbols(const space::TemplateDefinition& definition);
/// Tensor maps, and arguments of the kernel with most.
[[nodiscard]] std::size_t map_count(const space::TemplateDefinition& definition);
[[nodiscard]] std::size_t argument_count(const space::TemplateDefinition& definition);
/// Whether an expression of a GEMM's template asks for alpha or beta.
[[nodiscard]] bool asks_for_scalars(const space::TemplateDefinition& definition);

/// `bool evaluate_<name>(const <facts_type()>& f, const Int* p, const Int* built, Plan& plan)`: whether a variant,
/// given by its parameters and the values of call_macros() it was built with, computes the problem, and what it
/// launches then. It refuses exactly what why_illegal(), make_launch_plan() and another build would.
[[nodiscard]] std::string evaluate_function(const space::TemplateDefinition& definition);

}  // namespace pgtune::tool
