// SPDX-License-Identifier: MIT
#include "tuner/model/launch_plan.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace pgtune {
namespace {

constexpr std::array<std::string_view, kMaxBuffers> kBufferWords{
    "buffer0", "buffer1", "buffer2",  "buffer3",  "buffer4",  "buffer5",  "buffer6",  "buffer7",
    "buffer8", "buffer9", "buffer10", "buffer11", "buffer12", "buffer13", "buffer14", "buffer15"};
constexpr auto kOperands = [] {
  EnumNames<Operand, 1 + kMaxBuffers> names{{{Operand::kWorkspace, "workspace"}}};
  for (std::size_t i = 0; i < kMaxBuffers; ++i) names[1 + i] = {operand_of_buffer(i), kBufferWords[i]};
  return names;
}();
constexpr EnumNames<Operand, 6> kGemmOperands{{{Operand::kA, "A"},
                                               {Operand::kB, "B"},
                                               {Operand::kC, "C"},
                                               {Operand::kD, "D"},
                                               {Operand::kBias, "bias"},
                                               {Operand::kWorkspace, "workspace"}}};
constexpr EnumNames<Swizzle, 4> kSwizzles{
    {{Swizzle::kNone, "none"}, {Swizzle::k32B, "32B"}, {Swizzle::k64B, "64B"}, {Swizzle::k128B, "128B"}}};
constexpr EnumNames<L2Promotion, 4> kPromotions{{{L2Promotion::kNone, "none"},
                                                 {L2Promotion::k64B, "64B"},
                                                 {L2Promotion::k128B, "128B"},
                                                 {L2Promotion::k256B, "256B"}}};
constexpr EnumNames<L2Access, 3> kAccesses{
    {{L2Access::kNormal, "normal"}, {L2Access::kStreaming, "streaming"}, {L2Access::kPersisting, "persisting"}}};
constexpr EnumNames<ArgumentKind, 5> kArguments{{{ArgumentKind::kPointer, "pointer"},
                                                 {ArgumentKind::kTensorMap, "tensor_map"},
                                                 {ArgumentKind::kInt32, "int32"},
                                                 {ArgumentKind::kInt64, "int64"},
                                                 {ArgumentKind::kFloat32, "float32"}}};

std::int64_t bytes_of(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::kInt32:
    case ArgumentKind::kFloat32:
      return 4;
    case ArgumentKind::kTensorMap:
      return 128;
    case ArgumentKind::kPointer:
    case ArgumentKind::kInt64:
      break;
  }
  return 8;
}

}  // namespace

EnumTable<Operand> enum_table(Operand /*value*/) { return kOperands; }
EnumTable<Operand> gemm_operands() { return kGemmOperands; }
EnumTable<Swizzle> enum_table(Swizzle /*value*/) { return kSwizzles; }
EnumTable<L2Promotion> enum_table(L2Promotion /*value*/) { return kPromotions; }
EnumTable<L2Access> enum_table(L2Access /*value*/) { return kAccesses; }
EnumTable<ArgumentKind> enum_table(ArgumentKind /*value*/) { return kArguments; }

std::vector<KernelCall> kernel_calls(const LaunchPlan& plan) {
  std::vector<KernelCall> out;
  for (const KernelLaunch& kernel : plan.kernels) {
    KernelCall& call = out.emplace_back(KernelCall{kernel.symbol, {}});
    for (const KernelArgument& argument : kernel.arguments)
      call.arguments.push_back({std::string(to_string(argument.kind)), bytes_of(argument.kind)});
  }
  return out;
}

const KernelLaunch& main_kernel(const LaunchPlan& plan) {
  const auto less = [](const KernelLaunch& a, const KernelLaunch& b) {
    const auto rank = [](const KernelLaunch& kernel) {
      return std::pair{kernel.dynamic_smem_bytes, kernel.grid.count() * kernel.block.count()};
    };
    return rank(a) < rank(b);
  };
  return *std::max_element(plan.kernels.rbegin(), plan.kernels.rend(), less);
}

}  // namespace pgtune
