// SPDX-License-Identifier: MIT
// Evaluates a template's JSON for one variant and problem into plain numbers.
#pragma once

#include <string_view>

#include "tuner/template/template_definition.hpp"

namespace pgtune::space {

/// Launch geometry, arguments, tensor maps, workspace. Errors (usage) name the field: an expression that fails, a grid
/// or block outside CUDA's limits, a tensor map that breaks TMA's rules (stride not a multiple of 16 bytes, box over
/// 256 ...).
[[nodiscard]] Result<LaunchPlan> make_launch_plan(const TemplateDefinition& definition, const Variant& variant,
                                                  const Problem& problem, const DeviceInfo& device);

/// A define of this name tells whether tiles reach beyond the problem's matrices. A kernel that was built with 1 serves
/// problems with 0, too.
inline constexpr std::string_view kEdgeDefine = "EDGE";
/// kAlways: kEdgeDefine is 1, for a kernel that serves many problems.
enum class Edges { kOfProblem, kAlways };

/// Preprocessor definitions of a build: every parameter, derived value, problem-dependent define, and LABEL_* macros.
[[nodiscard]] Result<std::vector<Define>> make_defines(const TemplateDefinition& definition, const Variant& variant,
                                                       const Problem& problem, const DeviceInfo& device,
                                                       Edges edges = Edges::kOfProblem);

/// Those kernels of `calls` that the template builds in modules of their own, with the `defines` that each reads.
[[nodiscard]] std::vector<KernelModule> separate_modules(const TemplateDefinition& definition,
                                                         const std::vector<KernelCall>& calls,
                                                         const std::vector<Define>& defines);

/// The order in which the variant adds an element's products, by the template's "sum_order". Two variants with the same
/// name give the same bits, whatever M and wherever a row lies. Empty: there is no such order, or the template names
/// none. Errors (usage): an expression that fails.
[[nodiscard]] Result<std::string> sum_order(const TemplateDefinition& definition, const Variant& variant,
                                            const Problem& problem, const DeviceInfo& device);

}  // namespace pgtune::space
