// SPDX-License-Identifier: MIT
// Everything the worker needs to launch one variant on one problem, as plain numbers. The parent evaluates a template's
// JSON into this; the worker executes it and never learns which template it came from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/element_type.hpp"

namespace pgtune {

/// Device buffers a kernel can be given. C is the addend (equal to D's buffer when beta == 0), D the result; the bias
/// is D's buffer where the problem has none.
enum class Operand { kA, kB, kC, kD, kBias, kWorkspace };

struct Dim3 {
  std::int64_t x = 1, y = 1, z = 1;
  friend bool operator==(const Dim3&, const Dim3&) = default;
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
  friend bool operator==(const L2Window&, const L2Window&) = default;
};

struct KernelLaunch {
  std::string symbol;  ///< extern "C" name
  Dim3 grid, block, cluster;
  std::int64_t dynamic_smem_bytes = 0;
  /// May start before the plan's kernel before it has ended (programmatic dependent launch). Never set on the first
  /// one: a launch of the plan never overlaps the launch before it.
  bool overlaps_previous = false;
  std::vector<KernelArgument> arguments;
  std::optional<L2Window> l2_window;
  friend bool operator==(const KernelLaunch&, const KernelLaunch&) = default;
};

/// When the workspace is set to zero: kEveryLaunch is part of what is timed.
enum class ZeroWorkspace { kNever, kOnce, kEveryLaunch };

struct LaunchPlan {
  std::vector<KernelLaunch> kernels;  ///< run in order and timed together
  std::vector<TensorMapPlan> tensor_maps;
  std::int64_t workspace_bytes = 0;
  ZeroWorkspace zero_workspace = ZeroWorkspace::kNever;
  friend bool operator==(const LaunchPlan&, const LaunchPlan&) = default;
};

/// The kernel a reader means: of those with the most dynamic shared memory the last. Precondition: there is one.
[[nodiscard]] const KernelLaunch& main_kernel(const LaunchPlan& plan);

/// The words of a template's JSON and of the worker protocol: "A", "workspace", "128B", "every_launch", ...
[[nodiscard]] std::string_view to_string(Operand value);
[[nodiscard]] std::string_view to_string(Swizzle value);
[[nodiscard]] std::string_view to_string(L2Promotion value);
[[nodiscard]] std::string_view to_string(L2Access value);
[[nodiscard]] std::string_view to_string(ZeroWorkspace value);
[[nodiscard]] std::string_view to_string(ArgumentKind value);
[[nodiscard]] std::optional<Operand> parse_operand(std::string_view text);
[[nodiscard]] std::optional<Swizzle> parse_swizzle(std::string_view text);
[[nodiscard]] std::optional<L2Promotion> parse_l2_promotion(std::string_view text);
[[nodiscard]] std::optional<L2Access> parse_l2_access(std::string_view text);
[[nodiscard]] std::optional<ZeroWorkspace> parse_zero_workspace(std::string_view text);
[[nodiscard]] std::optional<ArgumentKind> parse_argument_kind(std::string_view text);

}  // namespace pgtune
