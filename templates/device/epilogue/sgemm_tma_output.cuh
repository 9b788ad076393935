// SPDX-License-Identifier: MIT
// The epilogue of sgemm_tma: stores a tile to D, and finishes tiles that several workers have split along K.
#pragma once

#include "device/epilogue/sgemm_output.cuh"
#include "device/mainloop/sgemm_tma_config.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/special_registers.cuh"

namespace {

/// Where in a tile a thread's rows and columns start.
struct ThreadPlace {
  int m, n;
};

__device__ __forceinline__ ThreadPlace thread_place(int index) {
  const int lane = index % 32, warp = index % THREADS / 32;
  // Each half of a warp reads at most eight neighbouring pieces of A and of B: a 16-byte read then takes two passes
  // over the banks instead of four.
  int lane_m = lane / 2 % 4, lane_n = lane / 8 * 2 + lane % 2;
  if (LANES_M == 8) lane_m = lane / 8 * 2 + lane % 2, lane_n = lane / 2 % 4;
  if (LANES_M == 2) lane_m = lane / 8 % 2, lane_n = lane / 16 * 8 + lane % 8;
  return {OperandA::first_outer(warp / kWarpsN, lane_m), OperandB::first_outer(warp % kWarpsN, lane_n)};
}

/// Where a tile's finished accumulators go.
struct Output {
  const float* c;  ///< of the tile's matrix
  float* d;
  int m_end, n_end;
  long long ld;
  float alpha, beta;
  int m, n;  ///< the tile's first row and column

  __device__ __forceinline__ void write(const float4& acc, const ThreadPlace& of, int piece) const {
    const int row = m + of.m + OperandA::outer_step(piece / (TN / 4));
    int column = n + of.n + OperandB::outer_step(piece % (TN / 4) * 4);
    constexpr bool kEvictsFirst = D_CACHE_HINT == LABEL_evict_first;
    if constexpr (C_VEC == 4) {
      if (row < m_end) pgtune::write_piece<kEvictsFirst>(acc, c + row * ld, d + row * ld, column, n_end, alpha, beta);
    } else {
      float four[4] = {acc.x, acc.y, acc.z, acc.w};
      if constexpr (kReduces) {
        // All tiles are stored at one time, and nothing hides that. So lanes exchange their neighbours, and a store
        // touches half as many sectors.
        const int q = of.n / 4 % 4;
        pgtune::exchange<LANES_M == 8 ? 2 : 1, LANES_M == 8 ? 4 : LANES_M == 4 ? 8 : 2>(four, q);
        column -= 3 * q;
      }
      if (row < m_end) {
        pgtune::write_floats<kReduces ? 4 : 1, kEvictsFirst>(four, c + row * ld, d + row * ld, column, n_end, alpha,
                                                             beta);
      }
    }
  }
};

/// Finishes a worker's share of a tile that `parts` workers have computed: every parts-th of each thread's pieces.
__device__ __forceinline__ void finish_pieces(const StreamKReduction& shared, const Output& to,
                                              const ThreadPlace& place, int part_here, int first_worker, int parts,
                                              int rank) {
  const float4* const from = shared.of(first_worker);
#pragma unroll 1
  for (int j = part_here; j < kOwnPieces; j += parts) {
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 4
    for (int part = 0; part < parts; ++part)
      pgtune::add(sum, __ldcg(from + (part * CLUSTER_K * kOwnPieces + j) * kConsumerThreads));
    to.write(sum, place, SlicedKReduction::own_piece(j, pgtune::thread_index() / THREADS, rank));
  }
}

/// The same where there are many more workers than pieces: each worker takes a piece of one warp, and each of its own
/// warps adds some of the workers' accumulators, so that few loads wait for each other.
__device__ __forceinline__ void finish_by_warps(const StreamKReduction& shared, const Output& to, float4* scratch,
                                                int part_here, int first_worker, int parts, int rank) {
  constexpr int kAll = kConsumerThreads / 32;  ///< warps
  const int index = pgtune::thread_index(), warp = index / 32, lane = index % 32;
#pragma unroll 1
  for (int unit = part_here; unit < kOwnPieces * kAll; unit += parts) {
    const int j = unit / kAll, owner = unit % kAll * 32 + lane;
    const float4* const from = shared.of(first_worker) - index + owner;
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 4
    for (int part = warp; part < parts; part += kAll)
      pgtune::add(sum, __ldcg(from + (part * CLUSTER_K * kOwnPieces + j) * kConsumerThreads));
    scratch[index] = sum;
    pgtune::named_barrier_sync<kConsumerThreads>(kAllConsumers);
    if (warp == 0) {
#pragma unroll
      for (int other = 1; other < kAll; ++other) pgtune::add(sum, scratch[other * 32 + lane]);
      to.write(sum, thread_place(owner), SlicedKReduction::own_piece(j, owner / THREADS, rank));
    }
    pgtune::named_barrier_sync<kConsumerThreads>(kAllConsumers);
  }
}

}  // namespace
