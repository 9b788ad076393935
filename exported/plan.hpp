// SPDX-License-Identifier: MIT
// What one variant launches for one call. The generated functions below it fill it in from a template's expressions.
// kMaxKernels, kMaxMaps and kMaxArguments are written before it: what the templates of this header need.
#pragma once

#include "exported/facts.hpp"

namespace pgtune_export::detail {

struct MapPlan {
  Place buffer;
  CUtensorMapDataType type;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion promotion;
  unsigned rank;
  Int dims[5], strides_bytes[4], box[5];
};

struct Argument {
  enum class Kind : std::uint8_t { pointer, map, int32, int64, scalar } kind;
  Place buffer;  ///< of a pointer
  Int value;     ///< of an integer; of a map or a scalar its number
};

struct KernelPlan {
  int symbol;  ///< of the template's
  Int grid[3], block[3], cluster[3], smem_bytes;
  bool overlaps;     ///< may start before what the stream runs before it has ended, and waits for that itself
  bool co_resident;  ///< its CTAs wait for each other
  int argument_count;
  Argument arguments[kMaxArguments];
};

struct Plan {
  int kernel_count, map_count;
  Int workspace_bytes;
  bool zeroes_workspace;  ///< before the first kernel
  Int cost;               ///< the template's guess in clocks; below 0: it has none
  const char* why;        ///< not null: why the variant cannot compute the problem
  KernelPlan kernels[kMaxKernels];
  MapPlan maps[kMaxMaps];
};

inline bool refuse(Plan& plan, const char* why) noexcept {
  plan.why = why;
  return false;
}
constexpr const char* kNoValue = "an expression of the template has no value for this problem";
constexpr const char* kOtherBuild = "the kernel was compiled for another alignment, layout or edge";

/// Whether a rule does not hold.
inline bool breaks(Plan& plan, const bool& x, Int rule, const char* reason) noexcept {
  if (!x && rule != 0) return false;
  plan.why = x ? kNoValue : reason;
  return true;
}
/// Whether a macro of the kernel would have another value than it was compiled with.
inline bool differs(Plan& plan, const bool& x, Int macro, Int built) noexcept {
  if (!x && macro == built) return false;
  plan.why = x ? kNoValue : kOtherBuild;
  return true;
}
/// Whether the problem has edges, and the kernel was compiled without.
inline bool exceeds(Plan& plan, const bool& x, Int edges, Int built) noexcept {
  return differs(plan, x, edges < built ? built : edges, built);
}

inline KernelPlan& add_kernel(Plan& plan, int symbol) noexcept {
  KernelPlan& k = plan.kernels[plan.kernel_count++];
  k.symbol = symbol;
  for (int i = 0; i < 3; ++i) k.grid[i] = k.block[i] = k.cluster[i] = 1;
  k.smem_bytes = 0;
  k.overlaps = k.co_resident = false;
  k.argument_count = 0;
  return k;
}
inline void set(Int (&to)[3], Int x, Int y = 1, Int z = 1) noexcept {
  to[0] = x;
  to[1] = y;
  to[2] = z;
}
inline void add(KernelPlan& k, Argument::Kind kind, Int value, Place buffer = 0) noexcept {
  k.arguments[k.argument_count++] = {kind, buffer, value};
}
inline void pointer(KernelPlan& k, Place buffer) noexcept { add(k, Argument::Kind::pointer, 0, buffer); }
inline void map(KernelPlan& k, Int number) noexcept { add(k, Argument::Kind::map, number); }
inline void int64(KernelPlan& k, Int value) noexcept { add(k, Argument::Kind::int64, value); }
inline void int32(KernelPlan& k, bool& x, Int value) noexcept {
  if (value != static_cast<std::int32_t>(value)) x = true;
  add(k, Argument::Kind::int32, value);
}
inline void scalar(KernelPlan& k, Int number) noexcept { add(k, Argument::Kind::scalar, number); }

inline bool within(const Int (&values)[3], Int x, Int y, Int z) noexcept {
  return values[0] >= 1 && values[0] <= x && values[1] >= 1 && values[1] <= y && values[2] >= 1 && values[2] <= z;
}

/// CUDA's limits of a launch.
inline bool launchable(const KernelPlan& k, const DeviceFacts& f) noexcept {
  if (!within(k.grid, 2147483647, 65535, 65535) || !within(k.block, 1024, 1024, 64) || !within(k.cluster, 8, 8, 8))
    return false;
  if (k.block[0] * k.block[1] * k.block[2] > 1024) return false;
  const Int ctas = k.cluster[0] * k.cluster[1] * k.cluster[2];
  if (ctas > 1) {
    if (ctas > 8 || f.v_ARCH < 90) return false;
    for (int i = 0; i < 3; ++i) {
      if (k.grid[i] % k.cluster[i] != 0) return false;
    }
  }
  if (k.overlaps && f.v_ARCH < 90) return false;
  return k.smem_bytes >= 0 && k.smem_bytes <= f.v_SMEM_LIMIT;
}

inline Int bytes_of(CUtensorMapDataType type) noexcept {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
      return 1;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
      return 2;
    default:
      return 4;
  }
}

/// TMA's limits of a tensor map.
inline bool encodable(const MapPlan& map, const DeviceFacts& f) noexcept {
  if (f.v_ARCH < 90) return false;
  for (unsigned i = 0; i < map.rank; ++i) {
    if (map.dims[i] < 1 || map.dims[i] > (Int{1} << 32) || map.box[i] < 1 || map.box[i] > 256) return false;
    if (i + 1 == map.rank) break;
    const Int stride = map.strides_bytes[i];
    if (stride < 1 || stride >= (Int{1} << 40) || stride % 16 != 0) return false;
  }
  const Int row = map.box[0] * bytes_of(map.type);
  const Int span = map.swizzle == CU_TENSOR_MAP_SWIZZLE_32B    ? 32
                   : map.swizzle == CU_TENSOR_MAP_SWIZZLE_64B  ? 64
                   : map.swizzle == CU_TENSOR_MAP_SWIZZLE_128B ? 128
                                                               : row;
  return row % 16 == 0 && row <= span;
}

inline CUtensorMapSwizzle swizzle(bool& x, Int bytes) noexcept {
  switch (bytes) {
    case 0:
      return CU_TENSOR_MAP_SWIZZLE_NONE;
    case 32:
      return CU_TENSOR_MAP_SWIZZLE_32B;
    case 64:
      return CU_TENSOR_MAP_SWIZZLE_64B;
    case 128:
      return CU_TENSOR_MAP_SWIZZLE_128B;
    default:
      x = true;
      return CU_TENSOR_MAP_SWIZZLE_NONE;
  }
}
inline CUtensorMapL2promotion promotion(bool& x, Int bytes) noexcept {
  switch (bytes) {
    case 0:
      return CU_TENSOR_MAP_L2_PROMOTION_NONE;
    case 64:
      return CU_TENSOR_MAP_L2_PROMOTION_L2_64B;
    case 128:
      return CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
    case 256:
      return CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
    default:
      x = true;
      return CU_TENSOR_MAP_L2_PROMOTION_NONE;
  }
}

/// Adds a map and returns its number; its strides come in elements.
inline Int add_map(Plan& plan, const DeviceFacts& f, bool& x, MapPlan next) noexcept {
  for (unsigned i = 0; i + 1 < next.rank; ++i)
    next.strides_bytes[i] = product(x, next.strides_bytes[i], bytes_of(next.type));
  if (!x && !encodable(next, f)) x = true;
  plan.maps[plan.map_count] = next;
  return plan.map_count++;
}

}  // namespace pgtune_export::detail
