// SPDX-License-Identifier: MIT
#include "tuner/session/pipeline/launchable.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/model/occupancy.hpp"

namespace pgtune::session {
namespace {

std::int64_t dynamic_smem_bytes(const LaunchPlan& plan) {
  std::int64_t largest = 0;
  for (const KernelLaunch& kernel : plan.kernels) largest = std::max(largest, kernel.dynamic_smem_bytes);
  return largest;
}

}  // namespace

std::int64_t smem_bytes(const BuildInfo& build, const LaunchPlan& plan) {
  const std::int64_t dynamic = dynamic_smem_bytes(plan);
  return plan.kernels.size() == 1 ? build.static_smem_bytes + dynamic : std::max(build.static_smem_bytes, dynamic);
}

std::optional<std::string> why_not_launchable(const BuildInfo& build, const LaunchPlan& plan,
                                              const DeviceInfo& device) {
  if (build.spill_bytes > 0) return fmt::format("spills {} bytes per thread", build.spill_bytes);
  const std::int64_t smem = smem_bytes(build, plan);
  if (smem > device.smem_per_block_bytes) {
    return fmt::format("needs {} bytes of shared memory per block, the GPU has {}", smem, device.smem_per_block_bytes);
  }
  if (plan.kernels.size() > 1) return std::nullopt;
  const std::int64_t threads = plan.kernels.front().block.count();
  const Occupancy fit = occupancy(device, build.registers, smem, threads);
  if (fit.ctas_per_sm > 0) return std::nullopt;
  return fmt::format(
      "one sample does not fit on an SM, limited by {}: {} threads with {} registers each, {} bytes of "
      "shared memory",
      fit.limiter, threads, build.registers, smem);
}

}  // namespace pgtune::session
