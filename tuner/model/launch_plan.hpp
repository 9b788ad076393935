// SPDX-License-Identifier: MIT
// Everything the worker needs to launch one variant on one problem, as plain numbers. The parent evaluates a template's
// JSON into this; the worker executes it and never learns which template it came from.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/element_type.hpp"
#include "tuner/util/fields.hpp"
#include "tuner/util/named_enum.hpp"

namespace pgtune {

/// Device buffers a kernel can be given: the workspace, and the operation's buffers by their place in its list. Those
/// of GEMM have names. C is the addend (D's buffer where beta is 0), D the result; the bias is D's buffer where the
/// problem has none.
enum class Operand { kWorkspace, kFirstBuffer, kA = kFirstBuffer, kB, kC, kBias, kD };

/// The buffer in that place.
[[nodiscard]] constexpr Operand operand_of_buffer(std::size_t index) {
  return static_cast<Operand>(static_cast<std::size_t>(Operand::kFirstBuffer) + index);
}
/// Nothing for the workspace.
[[nodiscard]] constexpr std::optional<std::size_t> buffer_of_operand(Operand operand) {
  if (operand < Operand::kFirstBuffer) return std::nullopt;
  return static_cast<std::size_t>(operand) - static_cast<std::size_t>(Operand::kFirstBuffer);
}
inline constexpr std::size_t kMaxBuffers = 16;

struct Dim3 {
  std::int64_t x = 1, y = 1, z = 1;
  friend auto operator<=>(const Dim3&, const Dim3&) = default;
  [[nodiscard]] std::int64_t count() const { return x * y * z; }
};

enum class Swizzle { kNone, k32B, k64B, k128B };
enum class L2Promotion { kNone, k64B, k128B, k256B };

/// Arguments of cuTensorMapEncodeTiled. Dimension 0 is the contiguous one.
struct TensorMapPlan {
  std::string name;
  Operand operand = Operand::kA;
  TensorType type = TensorType::kFloat32;
  std::vector<std::int64_t> dims;           ///< elements; rank = dims.size(), 1 to 5
  std::vector<std::int64_t> strides_bytes;  ///< rank - 1 entries, each a multiple of 16
  std::vector<std::int64_t> box;            ///< elements, each 1 to 256
  Swizzle swizzle = Swizzle::kNone;
  L2Promotion l2_promotion = L2Promotion::kNone;

  PGTUNE_FIELDS(name, operand, type, dims, strides_bytes, box, swizzle, l2_promotion)
  friend bool operator==(const TensorMapPlan&, const TensorMapPlan&) = default;
};

enum class ArgumentKind { kPointer, kTensorMap, kInt32, kInt64, kFloat32 };

struct KernelArgument {
  ArgumentKind kind = ArgumentKind::kInt32;
  Operand operand = Operand::kA;  ///< for kPointer
  std::int64_t integer = 0;       ///< for kInt32 and kInt64; index into tensor_maps for kTensorMap
  double real = 0;                ///< for kFloat32
  friend bool operator==(const KernelArgument&, const KernelArgument&) = default;
};

enum class L2Access { kNormal, kStreaming, kPersisting };

/// A launch attribute: how accesses to one operand's buffer should treat L2 (cudaAccessPolicyWindow).
struct L2Window {
  Operand operand = Operand::kA;
  L2Access access = L2Access::kNormal;
  double hit_ratio = 1.0;  ///< share of the window that gets `access`, 0 to 1

  PGTUNE_FIELDS(operand, access, hit_ratio)
  friend bool operator==(const L2Window&, const L2Window&) = default;
};

struct KernelLaunch {
  std::string symbol;  ///< extern "C" name
  Dim3 grid, block, cluster;
  std::int64_t dynamic_smem_bytes = 0;
  /// May start before the plan's kernel before it has ended (programmatic dependent launch); on the first one, before
  /// the launch before has ended, which is set in chained problems alone and may be ignored.
  bool overlaps_previous = false;
  /// It waits for all that the stream ran before, before it touches memory, so that its launch always overlaps that.
  bool waits_first = false;
  bool co_resident = false;  ///< its CTAs wait for each other: launched cooperatively, all of them at a time
  std::vector<KernelArgument> arguments;
  std::optional<L2Window> l2_window;

  PGTUNE_FIELDS(symbol, grid, block, cluster, dynamic_smem_bytes, arguments, (overlaps_previous, kUnlessDefault),
                (waits_first, kUnlessDefault), (co_resident, kUnlessDefault), l2_window)
  friend bool operator==(const KernelLaunch&, const KernelLaunch&) = default;
};

struct LaunchPlan {
  std::vector<KernelLaunch> kernels;  ///< run in order and timed together
  std::vector<TensorMapPlan> tensor_maps;
  std::int64_t workspace_bytes = 0;
  bool zero_workspace = false;  ///< before every launch, as part of what is timed

  PGTUNE_FIELDS(kernels, tensor_maps, workspace_bytes, zero_workspace)
  friend bool operator==(const LaunchPlan&, const LaunchPlan&) = default;
};

/// What a launch passes to a kernel: compared with the kernel that was built before it is launched.
struct PassedArgument {
  std::string kind;  ///< the word of the template's or the operation's JSON: "int32"
  std::int64_t bytes = 0;

  PGTUNE_FIELDS(kind, bytes)
  friend bool operator==(const PassedArgument&, const PassedArgument&) = default;
};
struct KernelCall {
  std::string symbol;
  std::vector<PassedArgument> arguments;

  PGTUNE_FIELDS(symbol, arguments)
  friend bool operator==(const KernelCall&, const KernelCall&) = default;
};
[[nodiscard]] std::vector<KernelCall> kernel_calls(const LaunchPlan& plan);

/// The kernel a reader means: of those with the most dynamic shared memory the one with the most threads, the last of
/// several. Precondition: there is one.
[[nodiscard]] const KernelLaunch& main_kernel(const LaunchPlan& plan);

/// The words of a template's JSON and of the worker protocol: "workspace", "128B", "int32", ...; of buffers
/// "buffer0", "buffer1", ...
[[nodiscard]] EnumTable<Operand> enum_table(Operand value);
/// What templates of GEMM call its operands: "A", "B", "C", "D", "bias", "workspace".
[[nodiscard]] EnumTable<Operand> gemm_operands();
[[nodiscard]] EnumTable<Swizzle> enum_table(Swizzle value);
[[nodiscard]] EnumTable<L2Promotion> enum_table(L2Promotion value);
[[nodiscard]] EnumTable<L2Access> enum_table(L2Access value);
[[nodiscard]] EnumTable<ArgumentKind> enum_table(ArgumentKind value);

}  // namespace pgtune
