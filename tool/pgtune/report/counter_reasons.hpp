// SPDX-License-Identifier: MIT
// Why a kernel is as fast as it is, in words that follow from its counters by the rules of docs/counters.md, and from
// nothing else. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/energy_window.hpp"
#include "tuner/model/kernel_counters.hpp"

namespace pgtune::tool {

/// How much of one of the GPU's roofs a kernel uses.
struct RoofUse {
  const char* roof;  ///< "DRAM", "L2", "shared memory", "the tensor cores", "the FMA pipe"
  bool bandwidth;    ///< else a pipe
  double share;
};

/// Every roof whose use is known: bandwidths as bytes over `time_s` over what the GPU was measured to reach, pipes as
/// the share of time in which they were busy.
[[nodiscard]] std::vector<RoofUse> roof_uses(const KernelCounters& counters, double time_s,
                                             const std::optional<Ceilings>& ceilings);

/// One statement each, in the order of the rules; empty where the counters allow none. `time_s`: of a launch; 0: only
/// the profiler's is known, which is taken.
[[nodiscard]] std::vector<std::string> reasons(const KernelCounters& counters, double time_s,
                                               const std::optional<Ceilings>& ceilings);

/// What tells a kernel from the baseline's: bytes that differ by a twentieth or more at a level.
[[nodiscard]] std::vector<std::string> differences(const KernelCounters& counters, const KernelCounters& baseline,
                                                   std::string_view baseline_name);

/// What a stall of KernelCounters::stalls() waits for: "at CTA barriers".
[[nodiscard]] std::string stall_text(std::string_view stall);

}  // namespace pgtune::tool
