// SPDX-License-Identifier: MIT
// What CUDA and TMA accept. Private to tuner/space.
#pragma once

#include "tuner/model/launch_plan.hpp"
#include "tuner/model/records.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::space {

/// Errors (usage) name the field and the limit. Source of the limits: CUDA C++ Programming Guide, technical
/// specifications per compute capability; clusters up to the portable size of 8.
[[nodiscard]] Result<void> check_launch_limits(const KernelLaunch& launch, const DeviceInfo& device);

/// Source of the limits: CUDA Driver API, cuTensorMapEncodeTiled without interleaving.
[[nodiscard]] Result<void> check_tensor_map_limits(const TensorMapPlan& map, const DeviceInfo& device);

}  // namespace pgtune::space
