// SPDX-License-Identifier: MIT
// In place of the header of this name, of which it takes all but the instructions.
#pragma once

#define ClusterReduction ClusterReductionOfTheGpu
#include_next "device/epilogue/split_k_reduction.cuh"
#undef ClusterReduction

namespace pgtune {

template <int kRanks, int kInstructions, int kAccumulators, class Number>
struct ClusterReduction : ClusterReductionOfTheGpu<kRanks, kInstructions, kAccumulators, Number> {
  using Of = ClusterReductionOfTheGpu<kRanks, kInstructions, kAccumulators, Number>;

  static void exchange(typename Of::Slice& own, const typename Of::Accumulators& acc, unsigned parts, unsigned received,
                       unsigned rank) {
    const unsigned at = parts + thread_index() % 128 * 16;
    for (unsigned to = 0; to < kRanks; ++to) {
      if (to == rank) {
        Of::keep(own, acc, to);
        continue;
      }
      const unsigned slot = rank < to ? rank : rank - 1;
      for (int i = 0; i < Of::kPieces; ++i) {
        const float4 four = Of::piece(acc, to, i);
        const unsigned there = map_shared_address(at + slot * Of::kPartBytes + i * 2048, to);
        std::memcpy(Block::dynamic_shared() + there, &four, sizeof(four));
        emulated_barrier(map_shared_address(received, to)).bytes -= sizeof(four);
      }
      complete(map_shared_address(received, to));
    }
    mbarrier_wait_cluster(received, 0);
    for (int slot = 0; slot < kRanks - 1; ++slot) {
      for (int i = 0; i < Of::kPieces; ++i) {
        float4 four;
        std::memcpy(&four, Block::dynamic_shared() + at + slot * Of::kPartBytes + i * 2048, sizeof(four));
        Of::add(own, i, four);
      }
    }
  }
};

}  // namespace pgtune
