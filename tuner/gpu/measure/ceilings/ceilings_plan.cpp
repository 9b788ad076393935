// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/ceilings/ceilings_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace pgtune::gpu {
namespace {

constexpr std::int64_t kWantedCopyBytes = 1LL << 30;
// Launches of about half a millisecond on an H200: long against their start, short enough to fill 20 ms evenly.
constexpr std::int64_t kL2Steps = 128, kSmemIterations = 256, kIterations = 256;

std::int64_t round_down(std::int64_t bytes, std::int64_t multiple) { return bytes / multiple * multiple; }

}  // namespace

double CeilingsPlan::dram_bytes() const { return 2.0 * static_cast<double>(copy_bytes); }

double CeilingsPlan::l2_bytes() const { return static_cast<double>(resident_ctas * l2_steps * kL2PieceBytes); }

double CeilingsPlan::smem_bytes() const {
  return static_cast<double>(resident_ctas * kCeilingThreads * smem_iterations * kSmemBytesPerIteration);
}

double CeilingsPlan::flops() const {
  return 2.0 * static_cast<double>(resident_ctas * kCeilingThreads * iterations * kFfmasPerIteration);
}

Result<CeilingsPlan> plan_ceilings(const DeviceInfo& device, std::int64_t free_bytes) {
  const std::int64_t wanted = std::max(kWantedCopyBytes, 4 * device.l2_bytes);
  const std::int64_t least = std::max(2 * device.l2_bytes, 2 * kL2PieceBytes);
  CeilingsPlan plan;
  plan.copy_bytes = round_down(std::min(wanted, free_bytes / 4), kL2PieceBytes);
  if (plan.copy_bytes < least) {
    return fail(ErrorKind::kUsage, fmt::format("measuring this GPU's bandwidth needs {} bytes of its memory and {} are "
                                               "free; free memory on the GPU or measure before a large problem",
                                               4 * least, free_bytes));
  }
  plan.copy_ctas = plan.copy_bytes / kCopyCtaBytes;
  plan.l2_region_bytes = std::max(round_down(device.l2_bytes / 3, kL2PieceBytes), kL2PieceBytes);
  plan.l2_pieces = plan.l2_region_bytes / kL2PieceBytes;
  plan.l2_steps = kL2Steps;
  plan.resident_ctas =
      std::max<std::int64_t>(1, device.sm_count) * std::max<std::int64_t>(1, device.threads_per_sm / kCeilingThreads);
  plan.smem_iterations = kSmemIterations;
  plan.iterations = kIterations;
  return plan;
}

}  // namespace pgtune::gpu
