// SPDX-License-Identifier: MIT
// Which launches of a steady load lie inside an energy window.
#pragma once

#include <cstdint>
#include <vector>

namespace pgtune::gpu {

/// Launches timed between one pair of events.
struct EnergyChunk {
  double start_s = 0;  ///< on the host's clock
  double time_s = 0;
  std::int64_t launches = 0;
};

struct ChunkSum {
  std::int64_t launches = 0;
  double time_s = 0;
};

/// Sum of the chunks that start at `start_s` or later and have ended by `end_s`.
[[nodiscard]] ChunkSum sum_inside(const std::vector<EnergyChunk>& chunks, double start_s, double end_s);

}  // namespace pgtune::gpu
