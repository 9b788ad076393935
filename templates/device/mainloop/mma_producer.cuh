// SPDX-License-Identifier: MIT
// The producer of gemm_mma: all threads fill the pipeline's stages ahead of what they multiply.
#pragma once

#include "device/copy/cp_async_tile.cuh"
#include "device/mainloop/mma_stage.cuh"

namespace pgtune::product {

using CopyA = MmaCopy<TileA, THREADS, PIECE_A, EDGE>;
using CopyB = MmaCopy<TileB, THREADS, PIECE_B, EDGE>;

/// The ring of stages: where the next tile is written, and where it is read.
struct Ring {
  unsigned start;  ///< of shared memory
  int write = 0, read = 0;

  __device__ __forceinline__ unsigned stage(int number) const { return start + number * kStageBytes; }
  static __device__ __forceinline__ void advance(int& number) { number = number + 1 == STAGES ? 0 : number + 1; }
};

/// Copies the tiles of a segment.
struct Producer {
  CopyA a;
  CopyB b;
  int k_left, blocks;

  /// Starts copying the next tile, if there is one; finish() completes it.
  __device__ __forceinline__ void start(const Ring& ring) {
    const unsigned to = ring.stage(ring.write);
    a.start(to, k_left, blocks > 0);
    b.start(to + TileA::kBytes, k_left, blocks > 0);
  }
  __device__ __forceinline__ void finish(Ring& ring) {
    const unsigned to = ring.stage(ring.write);
    a.finish(to, blocks > 0);
    b.finish(to + TileA::kBytes, blocks > 0);
    cp_async_commit();
    Ring::advance(ring.write);
    k_left -= kBlockK;
    --blocks;
  }
  /// Fills all stages but one.
  __device__ __forceinline__ void begin(Ring& ring) {
    ring.read = ring.write;
#pragma unroll
    for (int stage = 0; stage < STAGES - 1; ++stage) {
      start(ring);
      finish(ring);
    }
  }
};

/// Waits until the next tile to read has arrived and all warps have read the one before it.
__device__ __forceinline__ void await_tile() {
  cp_async_wait<STAGES - 2>();
  __syncthreads();
}

}  // namespace pgtune::product
