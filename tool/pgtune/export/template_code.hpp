// SPDX-License-Identifier: MIT
// A template's rules, macros and launch as the C++17 of an exported header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuner/model/source.hpp"
#include "tuner/template/template_definition.hpp"

namespace pgtune::tool {

/// Why kernels of the template cannot be exported, as the end of a sentence; nothing if they can.
[[nodiscard]] std::optional<std::string> why_not_exported(const space::TemplateDefinition& definition);

/// Names of the macros that depend on the problem or the device, in the order of the generated function's `built`.
[[nodiscard]] std::vector<std::string> call_macros(const space::TemplateDefinition& definition);
/// Their values among a build's.
[[nodiscard]] std::vector<std::int64_t> built_values(const space::TemplateDefinition& definition,
                                                     const std::vector<Define>& defines);

/// Whether these values are those of a build that serves the problem.
[[nodiscard]] bool is_served(const space::TemplateDefinition& definition, const Variant& variant,
                             const Problem& problem, const DeviceInfo& device, const std::vector<std::int64_t>& built);

/// The generated code's names for the values that the template's expressions may use.
[[nodiscard]] std::string facts_type(const space::TemplateDefinition& definition);

/// The template's kernels by name, each once, in the order that numbers them.
[[nodiscard]] std::vector<std::string> kernel_symbols(const space::TemplateDefinition& definition);
/// Tensor maps, and arguments of the kernel with most.
[[nodiscard]] std::size_t map_count(const space::TemplateDefinition& definition);
[[nodiscard]] std::size_t argument_count(const space::TemplateDefinition& definition);
/// Whether an expression of a GEMM's template uses alpha or beta.
[[nodiscard]] bool asks_for_scalars(const space::TemplateDefinition& definition);

/// `bool evaluate_<name>(const <facts_type()>& f, const Int* p, const Int* built, Plan& plan)`: whether a variant,
/// given by its parameters and the values of call_macros() in its build, computes the problem, and its launch plan. It
/// refuses exactly the cases that why_illegal() or make_launch_plan() refuse or that need another build.
[[nodiscard]] std::string evaluate_function(const space::TemplateDefinition& definition);

}  // namespace pgtune::tool
