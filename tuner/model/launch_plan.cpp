// SPDX-License-Identifier: MIT
#include "tuner/model/launch_plan.hpp"

#include <algorithm>

#include "tuner/util/named_enum.hpp"

namespace pgtune {
namespace {

constexpr EnumNames<Operand, 6> kOperands{{{Operand::kA, "A"},
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
constexpr EnumNames<ZeroWorkspace, 3> kZeroings{
    {{ZeroWorkspace::kNever, "never"}, {ZeroWorkspace::kOnce, "once"}, {ZeroWorkspace::kEveryLaunch, "every_launch"}}};
constexpr EnumNames<ArgumentKind, 5> kArguments{{{ArgumentKind::kPointer, "pointer"},
                                                 {ArgumentKind::kTensorMap, "tensor_map"},
                                                 {ArgumentKind::kInt32, "int32"},
                                                 {ArgumentKind::kInt64, "int64"},
                                                 {ArgumentKind::kFloat32, "float32"}}};

}  // namespace

std::string_view to_string(Operand value) { return enum_name(kOperands, value); }
std::string_view to_string(Swizzle value) { return enum_name(kSwizzles, value); }
std::string_view to_string(L2Promotion value) { return enum_name(kPromotions, value); }
std::string_view to_string(L2Access value) { return enum_name(kAccesses, value); }
std::string_view to_string(ZeroWorkspace value) { return enum_name(kZeroings, value); }
std::string_view to_string(ArgumentKind value) { return enum_name(kArguments, value); }

std::optional<Operand> parse_operand(std::string_view text) { return enum_value(kOperands, text); }
std::optional<Swizzle> parse_swizzle(std::string_view text) { return enum_value(kSwizzles, text); }
std::optional<L2Promotion> parse_l2_promotion(std::string_view text) { return enum_value(kPromotions, text); }
std::optional<L2Access> parse_l2_access(std::string_view text) { return enum_value(kAccesses, text); }
std::optional<ZeroWorkspace> parse_zero_workspace(std::string_view text) { return enum_value(kZeroings, text); }
std::optional<ArgumentKind> parse_argument_kind(std::string_view text) { return enum_value(kArguments, text); }

const KernelLaunch& main_kernel(const LaunchPlan& plan) {
  const auto less = [](const KernelLaunch& a, const KernelLaunch& b) {
    return a.dynamic_smem_bytes < b.dynamic_smem_bytes;
  };
  return *std::max_element(plan.kernels.rbegin(), plan.kernels.rend(), less);
}

}  // namespace pgtune
