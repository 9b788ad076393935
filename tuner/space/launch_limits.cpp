// SPDX-License-Identifier: MIT
#include "tuner/space/launch_limits.hpp"

#include <fmt/format.h>

#include <string_view>

namespace pgtune::space {
namespace {

constexpr std::int64_t kMaxBlockThreads = 1024;
constexpr Dim3 kMaxBlock{1024, 1024, 64};
constexpr Dim3 kMaxGrid{2147483647, 65535, 65535};
constexpr std::int64_t kMaxCluster = 8;
constexpr int kFirstArchWithClustersAndTma = 90;

constexpr std::int64_t kMaxTensorDimension = std::int64_t{1} << 32;
constexpr std::int64_t kMaxTensorStrideBytes = (std::int64_t{1} << 40) - 1;
constexpr std::int64_t kMaxBoxElements = 256;
constexpr std::int64_t kTmaAlignmentBytes = 16;

tl::unexpected<Error> refuse(std::string message) { return fail(ErrorKind::kUsage, std::move(message)); }

Result<void> check_dimensions(std::string_view field, const Dim3& value, const Dim3& most) {
  const auto check = [&](char axis, std::int64_t size, std::int64_t limit) -> Result<void> {
    if (size >= 1 && size <= limit) return {};
    return refuse(fmt::format("{}.{} is {}, but must be between 1 and {}", field, axis, size, limit));
  };
  if (auto checked = check('x', value.x, most.x); !checked) return checked;
  if (auto checked = check('y', value.y, most.y); !checked) return checked;
  return check('z', value.z, most.z);
}

Result<void> check_cluster(const KernelLaunch& launch, const DeviceInfo& device) {
  const Dim3 most{kMaxCluster, kMaxCluster, kMaxCluster};
  if (auto checked = check_dimensions("cluster", launch.cluster, most); !checked) return checked;
  const std::int64_t ctas = launch.cluster.count();
  if (ctas == 1) return {};
  if (ctas > kMaxCluster) {
    return refuse(fmt::format("cluster has {} CTAs, but at most {} are portable", ctas, kMaxCluster));
  }
  if (device.arch_number() < kFirstArchWithClustersAndTma) {
    return refuse(fmt::format("clusters need sm_90 or newer, the device is {}; add a legality rule on ARCH",
                              device.architecture));
  }
  if (launch.grid.x % launch.cluster.x != 0 || launch.grid.y % launch.cluster.y != 0 ||
      launch.grid.z % launch.cluster.z != 0) {
    return refuse(fmt::format("grid {}x{}x{} is not a multiple of cluster {}x{}x{}; round the grid up", launch.grid.x,
                              launch.grid.y, launch.grid.z, launch.cluster.x, launch.cluster.y, launch.cluster.z));
  }
  return {};
}

/// Bytes that one row of the box may have under a swizzle; 0: any number.
std::int64_t swizzle_span_bytes(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::k32B:
      return 32;
    case Swizzle::k64B:
      return 64;
    case Swizzle::k128B:
      return 128;
    case Swizzle::kNone:
      break;
  }
  return 0;
}

Result<void> check_box(const TensorMapPlan& map) {
  for (std::size_t i = 0; i < map.box.size(); ++i) {
    if (map.box[i] >= 1 && map.box[i] <= kMaxBoxElements) continue;
    return refuse(fmt::format("box[{}] is {}, but TMA takes 1 to {} elements", i, map.box[i], kMaxBoxElements));
  }
  const std::int64_t row_bytes = map.box[0] * element_bytes(map.type);
  if (row_bytes % kTmaAlignmentBytes != 0) {
    return refuse(fmt::format("box[0] is {} bytes, but TMA needs a multiple of {}", row_bytes, kTmaAlignmentBytes));
  }
  const std::int64_t span = swizzle_span_bytes(map.swizzle);
  if (span > 0 && row_bytes > span) {
    return refuse(
        fmt::format("box[0] is {} bytes, but swizzle {} takes at most {}", row_bytes, to_string(map.swizzle), span));
  }
  return {};
}

}  // namespace

Result<void> check_launch_limits(const KernelLaunch& launch, const DeviceInfo& device) {
  if (auto checked = check_dimensions("grid", launch.grid, kMaxGrid); !checked) return checked;
  if (auto checked = check_dimensions("block", launch.block, kMaxBlock); !checked) return checked;
  if (launch.block.count() > kMaxBlockThreads) {
    return refuse(fmt::format("block {}x{}x{} has {} threads, but a CTA holds at most {}", launch.block.x,
                              launch.block.y, launch.block.z, launch.block.count(), kMaxBlockThreads));
  }
  if (auto checked = check_cluster(launch, device); !checked) return checked;
  if (launch.overlaps_previous && device.arch_number() < kFirstArchWithClustersAndTma) {
    return refuse(
        fmt::format("programmatic dependent launch needs sm_90 or newer, the device is {}; make it an "
                    "expression of ARCH",
                    device.architecture));
  }
  if (launch.dynamic_smem_bytes < 0 || launch.dynamic_smem_bytes > device.smem_per_block_bytes) {
    return refuse(fmt::format("dynamic_smem is {} bytes, but a CTA of this device has 0 to {}",
                              launch.dynamic_smem_bytes, device.smem_per_block_bytes));
  }
  return {};
}

Result<void> check_tensor_map_limits(const TensorMapPlan& map, const DeviceInfo& device) {
  if (device.arch_number() < kFirstArchWithClustersAndTma) {
    return refuse(fmt::format("tensor maps need sm_90 or newer, the device is {}; add a legality rule on ARCH",
                              device.architecture));
  }
  for (std::size_t i = 0; i < map.dims.size(); ++i) {
    if (map.dims[i] >= 1 && map.dims[i] <= kMaxTensorDimension) continue;
    return refuse(fmt::format("dims[{}] is {}, but TMA takes 1 to {}", i, map.dims[i], kMaxTensorDimension));
  }
  for (std::size_t i = 0; i < map.strides_bytes.size(); ++i) {
    const std::int64_t stride = map.strides_bytes[i];
    if (stride < 1 || stride > kMaxTensorStrideBytes) {
      return refuse(fmt::format("strides[{}] is {} bytes, but TMA takes 1 to {}", i, stride, kMaxTensorStrideBytes));
    }
    if (stride % kTmaAlignmentBytes != 0) {
      return refuse(
          fmt::format("strides[{}] is {} bytes, but TMA needs a multiple of {}; add a legality rule on ALIGN_A, "
                      "ALIGN_B or ALIGN_C",
                      i, stride, kTmaAlignmentBytes));
    }
  }
  return check_box(map);
}

}  // namespace pgtune::space
