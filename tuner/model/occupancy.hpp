// SPDX-License-Identifier: MIT
// How many CTAs of a kernel fit on one SM, and what limits them.
#pragma once

#include <cstdint>
#include <string>

#include "tuner/model/records.hpp"

namespace pgtune {

struct Occupancy {
  int ctas_per_sm = 0;  ///< 0: the kernel cannot be launched
  int warps_per_sm = 0;
  double fraction = 0;  ///< warps_per_sm over the SM's maximum
  std::string limiter;  ///< "registers", "shared memory", "threads" or "CTA slots"
};

/// Source: CUDA occupancy rules for compute capability 8.x and 9.0: registers are given per warp in units of 256, warps
/// in groups of 4 (one per sub-partition), shared memory in units of 128 bytes with 1 KiB reserved for each CTA.
[[nodiscard]] Occupancy occupancy(const DeviceInfo& device, int registers_per_thread, std::int64_t smem_bytes,
                                  std::int64_t threads_per_cta);

}  // namespace pgtune
