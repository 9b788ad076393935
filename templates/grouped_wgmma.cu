// SPDX-License-Identifier: MIT
// Products of rows with matrices whose columns lie along K, on Hopper's tensor cores (wgmma, sm_90a), fed by TMA.
// GROUPED: rows of A belong to groups, each with a matrix B of its own, and where groups begin only the GPU knows.
// BLOCK_SCALED: operands are 8-bit floats with a float32 scale for each 128 along K (block_scaled_consumer.cuh).
//
// Made of gemm_wgmma's parts, whose pipeline, barriers and schedules it has: one warp produces, warpgroups consume,
// CTAs are persistent and the pipeline runs on from tile to tile. What differs:
//
//   tiles      Every warp counts the tiles of the groups by itself (group_tile_walk.cuh) and takes the same ones.
//   loads      One tensor map covers the rows of all groups, so that a group's last tile also reads rows of the next
//              one, or beyond the end zeros: every row of the product is its own, and these are not stored.
//   stores     Threads store pieces of 16 bytes as far as the group has rows, or TMA whole boxes (group_output.cuh).
//   clusters   A cluster's tiles lie side by side. One that lies outside of its group is not stored, but its CTA loads
//              its part of what they share.
//
// The product's left operand has BM rows a tile, the right one BN columns. They are A's rows and B's, or with SWAP_AB
// exchanged, for groups of few rows: the instruction takes 64 rows but as little as 8 columns.

// GROUPED is 0 or one of these.
#define ADJACENT 1
#define MASKED 2

// Of the parts that it shares with gemm_wgmma: both operands lie along K and are read by TMA as they are.
#define LEFT_MN_MAJOR 0
#define RIGHT_MN_MAJOR 0
#define LEFT_SPAN 128
#define RIGHT_SPAN 128
#define PARTS 1
#define PART_BYTES ELEM_BYTES
#define INSTRUCTION_N BN
#define K_SLICES CLUSTER_K
#define LEFT_SOURCE 0
#define LABEL_registers 1
#define COPY 0
#define LABEL_cp_async 1
#define DECOMPOSITION 0
#define LABEL_data_parallel 0
#define MMAS_IN_FLIGHT 1
#define PROMOTION_INTERVAL 0
#if BLOCK_SCALED  // the warpgroups of a tile overlap their additions with each other's products
#define SCHEDULE 0
#define LABEL_pingpong 1
#endif

#include "device/epilogue/group_output.cuh"
#include "device/epilogue/split_k_reduction.cuh"
#include "device/mainloop/wgmma_consumer.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/scheduler/group_tile_walk.cuh"
#if BLOCK_SCALED
#include "device/mainloop/block_scaled_consumer.cuh"
#endif

namespace {

using namespace pgtune::product;

#if GROUPED == MASKED
using Groups = pgtune::MaskedGroups;
#elif GROUPED == ADJACENT
using Groups = pgtune::AdjacentGroups;
#else
using Groups = pgtune::OneGroup;
#endif

/// Rows and columns of D that a CTA's tile has, and how many CTAs of a cluster lie along them.
constexpr int kTileRows = SWAP_AB ? BN : BM, kTileColumns = SWAP_AB ? BM : BN;
constexpr int kClusterRows = SWAP_AB ? CLUSTER_N : CLUSTER_M, kClusterColumns = SWAP_AB ? CLUSTER_M : CLUSTER_N;
using Tiles = pgtune::GroupTileWalk<kTileRows * kClusterRows, RASTER_GROUP_AXIS == LABEL_n, RASTER_GROUP, Groups>;

constexpr auto kOutputType = DTYPE == LABEL_f16 ? pgtune::Type16::kF16 : pgtune::Type16::kBf16;
// Block-scaled products leave shared memory for boxes of a whole tile: their stages have half of the bytes.
constexpr auto kStore = EPILOGUE != LABEL_tma ? pgtune::GroupStore::kPieces
                        : BLOCK_SCALED        ? pgtune::GroupStore::kBoxesOfTile
                                              : pgtune::GroupStore::kTwoBoxes;
using Output = pgtune::GroupOutput<SWAP_AB, kOutputType, kStore, kInstructions, kSliceColumns>;
using ClusterReduction =
    pgtune::ClusterReduction<CLUSTER_K, kInstructions, pgtune::kInstructionAccumulators, pgtune::Accumulator>;

#if BLOCK_SCALED
constexpr int kStageScales = kRowScaleBytes;
#else
constexpr bool kAnyFirstRow = false;
constexpr int kScaleBytes = 0, kStageScales = 0, kScaleBoxes = 0, kScaleBoxRows = 0;
#endif

/// Registers of a thread when the kernel starts, and after the producer warpgroup has handed some to the consumers.
constexpr int kLaunchRegisters = 65536 / (CTAS_PER_SM * kThreads) / 8 * 8;
constexpr int kProducerRegisters = kConsumers == 3 ? 32 : 40;
constexpr int kConsumerRegisters = (kLaunchRegisters * (kConsumers + 1) - kProducerRegisters) / kConsumers / 8 * 8;
constexpr bool kReallocatesRegisters = kConsumers > 1 || CTAS_PER_SM > 1;

__device__ __forceinline__ void skip(pgtune::PipelineState<STAGES>& place, int stages) {
  const unsigned to = static_cast<unsigned>(place.stage + stages);
  place.parity ^= to / STAGES % 2;
  place.stage = static_cast<int>(to % STAGES);
}

/// A CTA's place in its cluster: along the left operand's rows, along the right one's columns, and along K.
struct Rank {
  int m, n, k;
  __device__ __forceinline__ int rows() const { return (SWAP_AB ? n : m) * kTileRows; }
  __device__ __forceinline__ int columns() const { return (SWAP_AB ? m : n) * kTileColumns; }
};
__device__ __forceinline__ Rank rank_of_cta() {
  if constexpr (kCluster == 1 && CLUSTER_K == 1) return {0, 0, 0};
  const int rank = static_cast<int>(pgtune::cluster_rank());
  return CLUSTER_K > 1 ? Rank{0, 0, rank} : Rank{rank % CLUSTER_M, rank / CLUSTER_M, 0};
}

/// Issues the loads of a tile's stages, and of its rows' scales from `scale_row` of matrix `scale_group` on.
__device__ __forceinline__ void produce_tile(const pgtune::TensorMap& map_left, const pgtune::TensorMap& map_right,
                                             const pgtune::TensorMap* map_scales, const Tiles& tile, const Rank& rank,
                                             int blocks, pgtune::PipelineState<STAGES>& to, unsigned stages,
                                             unsigned scales, unsigned full, unsigned empty, int scale_row,
                                             int scale_group) {
  unsigned mask_left = 0, mask_right = 0;
#pragma unroll
  for (int i = 0; i < CLUSTER_N; ++i) mask_left |= 1u << (rank.m + i * CLUSTER_M);
#pragma unroll
  for (int i = 0; i < CLUSTER_M; ++i) mask_right |= 1u << (i + rank.n * CLUSTER_M);
  const int row = tile.row + rank.rows(), column = tile.column * (kTileColumns * kClusterColumns) + rank.columns();
#pragma unroll 1
  for (int block = rank.k; block < blocks; block += CLUSTER_K) {
    const unsigned at = stages + kStageBytes * to.stage, barrier = full + 8 * to.stage;
    pgtune::mbarrier_wait(empty + 8 * to.stage, to.parity);
    pgtune::mbarrier_arrive_expect_tx(barrier, kStageBytes + kScaleBytes);
    constexpr bool kHinted = WEIGHTS_CACHE_HINT == LABEL_evict_first;
    Left::load<CLUSTER_N, SWAP_AB && kHinted>(at, map_left, {Left::kLines, Left::kPanels}, SWAP_AB ? column : row,
                                              block * kBlockK, SWAP_AB ? tile.group : 0, barrier, rank.n, mask_left,
                                              pgtune::kEvictFirst);
    Right::load<CLUSTER_M, !SWAP_AB && kHinted>(at + kLeftBytes, map_right, {Right::kLines, Right::kPanels},
                                                SWAP_AB ? row : column, block * kBlockK, SWAP_AB ? 0 : tile.group,
                                                barrier, rank.m, mask_right, pgtune::kEvictFirst);
#pragma unroll
    for (int box = 0; box < kScaleBoxes; ++box)
      pgtune::tma_load(scales + kStageScales * to.stage + 4 * kScaleBoxRows * box, *map_scales,
                       scale_row + kScaleBoxRows * box, block, scale_group, barrier);
    to.advance();
  }
}

}  // namespace

/// A's rows lie one after the other, `columns` are of D. `blocks` are k-blocks.
extern "C" __global__ void __launch_bounds__(kThreads, CTAS_PER_SM)
    grouped_wgmma(const __grid_constant__ pgtune::TensorMap map_left,
                  const __grid_constant__ pgtune::TensorMap map_right, unsigned short* D, int columns, int blocks,
#if GROUPED == MASKED
                  const int* rows, int groups, int capacity,
#elif GROUPED == ADJACENT
                  const int* offsets, int groups,
#else
                  int M,
#endif
#if BLOCK_SCALED
                  const __grid_constant__ pgtune::TensorMap map_scales, const float* SB,
#endif
                  const __grid_constant__ pgtune::TensorMap map_out, int tile_columns) {
  extern __shared__ __align__(1024) unsigned char shared[];
  // Swizzled lines of 128 bytes begin at multiples of 1024: boxes lie before the scales.
  const unsigned stages = pgtune::shared_address(shared), boxes = stages + STAGES * kStageBytes;
  const unsigned scales = boxes + kConsumers * 4 * Output::kBytes, parts = scales + STAGES * kStageScales;
  const unsigned full = parts + kConsumers * ClusterReduction::kBytes, empty = full + 8 * STAGES;
  const unsigned order = empty + 8 * STAGES, received = order;

  if (threadIdx.x == 0) {
    for (int stage = 0; stage < STAGES; ++stage) {
      pgtune::mbarrier_init(full + 8 * stage, 1);
      pgtune::mbarrier_init(empty + 8 * stage, kTileWarps * kCluster);
    }
    for (int g = 0; kPingPong && g < 2; ++g) pgtune::mbarrier_init(order + 8 * g, 4);
    for (int g = 0; CLUSTER_K > 1 && g < kConsumers; ++g) pgtune::mbarrier_init(received + 8 * g, 1);
    pgtune::mbarrier_init_fence();
    for (int g = 0; CLUSTER_K > 1 && g < kConsumers; ++g)
      pgtune::mbarrier_arrive_expect_tx(received + 8 * g, ClusterReduction::kBytes);
  }
  if (threadIdx.x == kConsumers * 128) {
    pgtune::prefetch_tensor_map(map_left);
    pgtune::prefetch_tensor_map(map_right);
#if BLOCK_SCALED
    pgtune::prefetch_tensor_map(map_scales);
#endif
    if (Output::kByTma) pgtune::prefetch_tensor_map(map_out);
  }
  if constexpr (kCluster > 1 || CLUSTER_K > 1) {
    pgtune::cluster_sync();
  } else {
    __syncthreads();
  }

#if GROUPED == MASKED
  const Groups all{rows, groups, capacity};
#elif GROUPED == ADJACENT
  const Groups all{offsets, groups};
#else
  const Groups all{M};
#endif
  constexpr int kWorkerCtas = kCluster * CLUSTER_K;
  const Rank rank = rank_of_cta();
  // The warp's number comes from lane 0, so that the compiler knows it to be the same in the whole warp.
  const int warp = __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x) / 32, 0), group = warp / 4;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  Tiles at(all, tile_columns, blockIdx.x / kWorkerCtas, gridDim.x / kWorkerCtas);

  if (group == kConsumers) {
    if (kReallocatesRegisters) pgtune::register_dealloc<kProducerRegisters>();
    if (warp != kConsumers * 4) return;
    pgtune::PipelineState<STAGES> to{0, 1};
    for (; at.valid; at.next()) {
      if (lane != 0) continue;
      const pgtune::TensorMap* of_scales = nullptr;
#if BLOCK_SCALED
      of_scales = &map_scales;
#endif
#if GROUPED == MASKED
      const int matrix = at.group, counted_from = matrix * capacity;
#else
      const int matrix = 0, counted_from = kAnyFirstRow ? at.row % 4 : 0;
#endif
      produce_tile(map_left, map_right, of_scales, at, rank, blocks, to, stages, scales, full, empty,
                   at.row + rank.rows() - counted_from, matrix);
    }
    if constexpr (kCluster > 1) {
      // Others of the cluster may still arrive in this CTA's shared memory.
      for (int s = 0; lane == 0 && s < STAGES; ++s) {
        pgtune::mbarrier_wait(empty + 8 * to.stage, to.parity);
        to.advance();
      }
    }
    return;
  }

  if (kReallocatesRegisters) pgtune::register_alloc<kConsumerRegisters>();
  const int part_of_tile = kPingPong ? 0 : group;
  const ConsumerParams from{Left::lower(stages) + Left::offset(part_of_tile * kRows, 0),
                            Right::lower(stages + kLeftBytes), full,
                            lane >= kCluster ? 0
                            : kCluster == 1  ? empty
                                             : pgtune::map_shared_address(empty, lane)};
  const int stages_of_tile = (blocks - rank.k + CLUSTER_K - 1) / CLUSTER_K;
  pgtune::PipelineState<STAGES> now{0, 0};
  for (; at.valid; at.next()) {
    if (kPingPong && at.number % 2 != group) {
      skip(now, stages_of_tile);
      continue;
    }
    const int row = at.row + rank.rows(), end = at.end;
    const int column = at.column * (kTileColumns * kClusterColumns) + rank.columns();
    // The first of the product's rows that this warp computes, counted from the tile's first.
    const int warp_row = part_of_tile * kRows + warp % 4 * 16;
    Accumulators acc;
#if BLOCK_SCALED
    const int last_block = (columns - 1) / kScaleBlock, own_column = column + (SWAP_AB ? part_of_tile * kRows : 0);
    // A warpgroup whose columns lie outside D needs none of its scales.
    const int block = min(own_column / kScaleBlock, last_block);
    const long long matrix_of_scales = static_cast<long long>(at.group) * (last_block + 1) + block;
    const int before = kAnyFirstRow ? at.row % 4 : 0;  // rows whose scales lie before the tile's
    const ScaleSource of{scales + 4 * before + (SWAP_AB ? lane % 4 * 8 : (warp_row + lane / 4) * 4),
                         SB + matrix_of_scales * blocks + rank.k, block < last_block ? blocks : 0,
                         (block + 1) * kScaleBlock - own_column};
    const Start start = !STAGGER || at.number > 0 ? Start::kAtOnce : group == 0 ? Start::kFirst : Start::kSecond;
    const int lines = row >= end || column >= columns ? 0
                      : SWAP_AB                       ? columns - own_column
                                                      : end - row - part_of_tile * kRows;
    const int wanted = STAGGER ? kInstructions : max(0, min((lines + 63) / 64, kInstructions));
    multiply_block_scaled<CLUSTER_K>(acc, stages_of_tile, now, from, of, start, wanted);
#else
    if (kPingPong) pgtune::mbarrier_wait(order + 8 * group, (at.number / 2 + group + 1) % 2);
    multiply(acc, stages_of_tile, now, from, order + 8 * (1 - group), [] {});
#endif
    const auto store = [&](const float* some, int instruction) {
      const int in_row = warp_row + instruction * 64, in_column = rank.k * kSliceColumns;
      Output::write(some, map_out, D, row + (SWAP_AB ? in_column : in_row), end,
                    column + (SWAP_AB ? in_row : in_column), columns, boxes + warp * Output::kBytes, instruction);
    };
    Output::begin();
    if constexpr (CLUSTER_K > 1) {
      ClusterReduction::Slice own;
      ClusterReduction::exchange(own, acc, parts + group * ClusterReduction::kBytes, received + 8 * group, rank.k);
#pragma unroll
      for (int i = 0; i < kInstructions; ++i) store(own[i], i);
    } else {
#pragma unroll
      for (int i = 0; i < kInstructions; ++i) store(acc[i], i);
    }
  }
  Output::begin();  // shared memory stays until TMA has read it
}
