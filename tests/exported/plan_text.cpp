// SPDX-License-Identifier: MIT
#include "tests/exported/plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tests/exported/sample_export.hpp"
#include "tool/pgtune/export/template_code.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/estimate.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::tool::test {
namespace {

int tensor_type_number(TensorType type) {
  switch (type) {  // CUtensorMapDataType
    case TensorType::kUint8:
      return 0;
    case TensorType::kInt32:
      return 3;
    case TensorType::kFloat16:
      return 6;
    case TensorType::kFloat32:
      return 7;
    case TensorType::kBfloat16:
      return 9;
    case TensorType::kTfloat32:
      return 11;
  }
  return -1;
}

/// As exported headers number buffers: an operation's in its order, GEMM's as they number them.
int place(Operand operand, bool is_gemm) {
  constexpr std::array kGemm{Operand::kA, Operand::kB, Operand::kC, Operand::kD, Operand::kBias};
  if (operand == Operand::kWorkspace) return 255;
  if (!is_gemm) return static_cast<int>(buffer_of_operand(operand).value());
  return static_cast<int>(std::find(kGemm.begin(), kGemm.end(), operand) - kGemm.begin());
}

std::string text_of(const LaunchPlan& plan, const std::vector<std::string>& symbols, bool is_gemm) {
  std::string out = fmt::format("workspace {} zeroed {}\n", plan.workspace_bytes, plan.zero_workspace ? 1 : 0);
  for (const TensorMapPlan& map : plan.tensor_maps) {
    out += fmt::format("map {} type {} swizzle {} promotion {}", place(map.operand, is_gemm),
                       tensor_type_number(map.type), static_cast<int>(map.swizzle), static_cast<int>(map.l2_promotion));
    for (std::size_t i = 0; i < map.dims.size(); ++i) out += fmt::format(" {}/{}", map.dims[i], map.box[i]);
    for (const std::int64_t stride : map.strides_bytes) out += fmt::format(" +{}", stride);
    out += '\n';
  }
  for (const KernelLaunch& kernel : plan.kernels) {
    out += fmt::format("kernel {} grid {} {} {} block {} {} {} cluster {} {} {} smem {} overlaps {}",
                       std::find(symbols.begin(), symbols.end(), kernel.symbol) - symbols.begin(), kernel.grid.x,
                       kernel.grid.y, kernel.grid.z, kernel.block.x, kernel.block.y, kernel.block.z, kernel.cluster.x,
                       kernel.cluster.y, kernel.cluster.z, kernel.dynamic_smem_bytes,
                       kernel.waits_first || kernel.overlaps_previous ? 1 : 0);
    int scalars = 0;
    for (const KernelArgument& argument : kernel.arguments) {
      switch (argument.kind) {
        case ArgumentKind::kPointer:
          out += fmt::format(" 0:{}", place(argument.operand, is_gemm));
          break;
        case ArgumentKind::kTensorMap:
          out += fmt::format(" 1:{}", argument.integer);
          break;
        case ArgumentKind::kInt32:
          out += fmt::format(" 2:{}", argument.integer);
          break;
        case ArgumentKind::kInt64:
          out += fmt::format(" 3:{}", argument.integer);
          break;
        case ArgumentKind::kFloat32:  // those of the templates at hand come in their order
          out += fmt::format(" 4:{}", scalars++);
          break;
      }
    }
    out += '\n';
  }
  return out;
}

}  // namespace

std::string plan_text(const space::TemplateDefinition& definition, const ExportedVariant& variant,
                      const Problem& problem) {
  const auto reason = space::why_illegal(definition, variant.variant, problem, sample_device());
  if (!reason || *reason) return "refused\n";
  if (!is_served(definition, variant.variant, problem, sample_device(), variant.built)) return "refused\n";
  const auto plan = space::make_launch_plan(definition, variant.variant, problem, sample_device());
  if (!plan) return "refused\n";
  const auto cost = space::cost_clocks(definition, variant.variant, problem, sample_device());
  return text_of(*plan, kernel_symbols(definition), problem.is_gemm()) +
         fmt::format("cost {}\n", cost && *cost ? static_cast<std::int64_t>(**cost) : -1);
}

}  // namespace pgtune::tool::test
