// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/energy/energy_chunks.hpp"

namespace pgtune::gpu {

ChunkSum sum_inside(const std::vector<EnergyChunk>& chunks, double start_s, double end_s) {
  ChunkSum sum;
  for (const EnergyChunk& chunk : chunks) {
    if (chunk.start_s < start_s || chunk.start_s + chunk.time_s > end_s) continue;
    sum.launches += chunk.launches;
    sum.time_s += chunk.time_s;
  }
  return sum;
}

}  // namespace pgtune::gpu
