// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/search_outcome.hpp"

#include <algorithm>

#include "tuner/space/plan.hpp"

namespace pgtune::tool {

std::int64_t smem_bytes(const SearchOutcome& outcome, const Variant& variant, const BuildInfo& build) {
  std::int64_t dynamic = 0;
  if (const auto plan =
          space::make_launch_plan(outcome.templates.of(variant), variant, outcome.problem, outcome.device.info)) {
    for (const KernelLaunch& kernel : plan->kernels) dynamic = std::max(dynamic, kernel.dynamic_smem_bytes);
  }
  return build.static_smem_bytes + dynamic;
}

}  // namespace pgtune::tool
