// SPDX-License-Identifier: MIT
// What gemm_wgmma's producer and consumers agree on: how a tile lies in shared memory and in registers.
#pragma once

#include "device/copy/wgmma_operand.cuh"
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/wgmma.cuh"

namespace pgtune::product {

constexpr bool kPingPong = SCHEDULE == LABEL_pingpong;
constexpr int kConsumers = CONSUMER_WARPGROUPS;             ///< warpgroups
constexpr int kTileWarps = kPingPong ? 4 : 4 * kConsumers;  ///< that compute a tile
constexpr int kThreads = (kConsumers + 1) * 128;
constexpr int kCluster = CLUSTER_M * CLUSTER_N;                      ///< CTAs that compute tiles along M and N
constexpr bool kCopiesByThreads = COPY == LABEL_cp_async;            ///< instead of TMA
constexpr bool kSplitsTiles = DECOMPOSITION != LABEL_data_parallel;  ///< tiles are split along K

constexpr int kBlockK = BK_BYTES / PART_BYTES;                           ///< steps of K in a stage
constexpr int kInstructionK = 32 / PART_BYTES;                           ///< and in an instruction
constexpr int kRows = BM / WARPGROUPS_M;                                 ///< of the tile, for each warpgroup
constexpr int kInstructions = kRows / 64;                                ///< below each other
constexpr int kAccumulators = kInstructions * kInstructionAccumulators;  ///< of a thread
using Accumulators = Accumulator[kInstructions][kInstructionAccumulators];
using Left = WgmmaOperand<LEFT_MN_MAJOR, BM, kBlockK, PART_BYTES, LEFT_SPAN>;
using Right = WgmmaOperand<RIGHT_MN_MAJOR, BN, kBlockK, PART_BYTES, RIGHT_SPAN>;
/// A stage holds the tiles of the left operand's PARTS, the largest part first, then those of the right one's.
constexpr int kLeftBytes = PARTS * Left::kBytes;
constexpr int kStageBytes = kLeftBytes + PARTS * Right::kBytes;
static_assert(kStageBytes < 1 << 20, "what a barrier can count");

/// Columns of a warpgroup's tile that each of the CTAs that share the tile along K finishes, if it finishes any.
constexpr int kSliceColumns = INSTRUCTION_N / K_SLICES;

/// Where a consumer warpgroup reads its operands, and which barriers it uses.
struct ConsumerParams {
  unsigned left;     ///< lower half of the descriptor of its left tile in stage 0, or TransposedFragment::place()
  unsigned right;    ///< lower half of that of its right tile
  unsigned full;     ///< full[0]
  unsigned release;  ///< this lane's address of empty[0], or 0 in lanes that do not arrive
};

/// Waits for a stage to be full. The tensor cores see what threads have copied only after a fence.
__device__ __forceinline__ void wait_full(unsigned barrier, unsigned parity) {
  mbarrier_wait(barrier, parity);
  if constexpr (kCopiesByThreads) fence_proxy_async();
}

/// Tells the producers that this warp has read a stage; `barrier` is 0 in lanes that do not arrive.
__device__ __forceinline__ void consumer_release(unsigned release, unsigned barrier) {
  if (release == 0) return;
  if constexpr (kCluster > 1) {
    mbarrier_arrive_remote(barrier);
  } else {
    mbarrier_arrive(barrier);
  }
}

}  // namespace pgtune::product
