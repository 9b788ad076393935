// SPDX-License-Identifier: MIT
// Which of a variant's kernels a reader means.
#pragma once

#include <algorithm>

#include "tuner/model/launch_plan.hpp"

namespace pgtune::tool {

/// Of those with the most dynamic shared memory the last. Precondition: there is one.
[[nodiscard]] inline const KernelLaunch& main_kernel(const LaunchPlan& plan) {
  const auto less = [](const KernelLaunch& a, const KernelLaunch& b) {
    return a.dynamic_smem_bytes < b.dynamic_smem_bytes;
  };
  return *std::max_element(plan.kernels.rbegin(), plan.kernels.rend(), less);
}

}  // namespace pgtune::tool
