// SPDX-License-Identifier: MIT
// D = activation(alpha * op(A) * op(B) + beta * C + bias) on Hopper's tensor cores (wgmma, sm_90a), fed by TMA.
//
// The kernel is warp-specialized. One thread of the last warpgroup, the producer, fills a pipeline of STAGES stages in
// shared memory; the other warpgroups are consumers. CTAs of a cluster that need the same tile of an operand load a
// part of it each and multicast it. CTAs are persistent: they take one work tile after the other, and the pipeline runs
// on from tile to tile, so that the next tile's first loads are in flight while the epilogue stores this one.
//
//   cooperative   all consumer warpgroups share each tile, along M or N
//   pingpong      two consumer warpgroups take alternate tiles: one runs its epilogue while the other multiplies
//
//   barrier      its p-th phase completes when                     who waits for it
//   full[s]      the stage's bytes have arrived in this CTA        consumer warps, before they read stage s
//   empty[s]     in each CTA of the cluster, each warp of the      the producer, before it fills stage s again
//                tile's warpgroups has read the stage
//   order[g]     pingpong: the other warpgroup has issued all      warpgroup g, before it waits for its p-th tile
//                products of the tile before g's p-th
//   received[g]  CLUSTER_K: the other CTAs' accumulators of this   warpgroup g, once: such a cluster has one tile
//                CTA's slice of the tile have arrived
//
// Phases are waited for by their parity, which is sound as long as nobody waits for a phase before the one before it is
// complete. A fresh barrier counts as complete in parity 1: so the producer passes `empty` in the first round of the
// pipeline, and warpgroup 0 passes order[0] for its first tile. `full` is complete up to the stage before the one
// waited for: within a tile because stages are waited for in order, from tile to tile because of the order of the warps
// or, with pingpong, because of `order`. At the end a clustered CTA waits for all its stages to be empty, after which
// no other CTA arrives in its shared memory.
//
// The product's left operand has BM rows a tile, the right one BN columns. They are A and B, or B and A transposed
// where SWAP_AB is 1, which suits few rows of D because the instruction takes 64 rows but as little as 8 columns.
//
// Operands whose lines TMA reads slowly or not at all are copied by all threads of the producer warpgroup instead
// (COPY, wgmma_copy_producer.cuh).
//
// Products of int8 are accumulated in int32, which C and D then are.
//
// Tensor cores take operands of 8 and 32 bits only along K. A left operand that lies otherwise is transposed on its way
// to registers (LEFT_SOURCE, wgmma_register_consumer.cuh). A right one is transposed by a kernel before the product,
// which also copies operands that TMA cannot read (wgmma_prepare.cuh). Float32 accuracy (tf32x3) comes from operands
// that this kernel splits into PARTS numbers of fewer bits: a stage holds all of them, and the products that count are
// added to the same accumulators.
//
// Few tiles with a long K are split along K: among the CTAs of a cluster, which exchange slices of their accumulators
// through distributed shared memory (CLUSTER_K); among SPLIT_K CTAs, which do so through the workspace (split-K); or so
// that every CTA has equally many k-blocks (stream-K). The order of the additions never changes.
#include "device/epilogue/split_k_reduction.cuh"
#include "device/epilogue/stream_k_reduction.cuh"
#include "device/epilogue/wgmma_output.cuh"
#include "device/mainloop/wgmma_producer.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/ptx/shared_memory.cuh"
#if LEFT_SOURCE == LABEL_registers
#include "device/mainloop/wgmma_register_consumer.cuh"
#else
#include "device/mainloop/wgmma_consumer.cuh"
#endif
#if COPY == LABEL_cp_async
#include "device/mainloop/wgmma_copy_producer.cuh"
#endif
#ifndef PGTUNE_SEPARATE_MODULES
#if DECOMPOSITION != LABEL_data_parallel
#include "device/scheduler/clear_flags.cuh"
#endif
#if PREPARES
#include "device/copy/wgmma_prepare.cuh"
#endif
#endif

namespace {

using namespace pgtune::product;

constexpr auto kOutputType = DTYPE == LABEL_f16 ? pgtune::Type16::kF16 : pgtune::Type16::kBf16;
constexpr bool kTransposesLeft = LEFT_SOURCE == LABEL_registers;
constexpr auto kStore = EPILOGUE == LABEL_tma      ? pgtune::Store::kByTma
                        : EPILOGUE == LABEL_staged ? pgtune::Store::kStaged
                                                   : pgtune::Store::kDirect;
constexpr bool kStoresByTma = kStore == pgtune::Store::kByTma;
constexpr bool kCopiesC = C_SOURCE == LABEL_shared;  ///< into D's boxes, while its tile is being multiplied
using Output = pgtune::WgmmaOutput<SWAP_AB, OUT_BYTES, kOutputType, OUT_PAIRS, kCopiesC,
                                   D_CACHE_HINT == LABEL_evict_first, kInstructions, kSliceColumns, OUT_LINES,
                                   OUT_LINES_AT_ONCE, OUT_SPAN, D_BUFFERS, kTransposesLeft ? 1 : 8>;
static_assert(!kCopiesC || kStoresByTma, "C is copied into the boxes that TMA stores");
using ClusterReduction =
    pgtune::ClusterReduction<CLUSTER_K, kInstructions, pgtune::kInstructionAccumulators, pgtune::Accumulator>;
using SplitKReduction = pgtune::SplitKReduction<SPLIT_K, SPLIT_K == 1 ? 1 : K_SLICES, kInstructions,
                                                pgtune::kInstructionAccumulators, pgtune::Accumulator>;
using StreamKReduction = pgtune::StreamKReduction<kAccumulators, pgtune::Accumulator>;
static_assert(DTYPE != LABEL_int8 || !pgtune::kHasBias && pgtune::kActivation == pgtune::Activation::kNone,
              "integers have no epilogue");

/// Registers of a thread when the kernel starts, as many as the launch bounds allow. The producer warpgroup deallocates
/// some, which the consumers allocate. A warpgroup that wants more than there are would wait for ever.
constexpr int kLaunchRegisters = 65536 / (CTAS_PER_SM * kThreads) / 8 * 8;
constexpr int kProducerRegisters = kCopiesByThreads ? 56 : kConsumers == 3 ? 32 : kSplitsTiles ? 40 : 24;
constexpr int kConsumerRegisters = (kLaunchRegisters * (kConsumers + 1) - kProducerRegisters) / kConsumers / 8 * 8;
static_assert(kProducerRegisters + kConsumers * kConsumerRegisters <= kLaunchRegisters * (kConsumers + 1),
              "no more registers than there are");
constexpr bool kReallocatesRegisters = kConsumers > 1 || CTAS_PER_SM > 1;

__device__ __forceinline__ void skip(pgtune::PipelineState<STAGES>& place, int stages) {
  const unsigned to = static_cast<unsigned>(place.stage + stages);
  place.parity ^= to / STAGES % 2;
  place.stage = static_cast<int>(to % STAGES);
}

/// The id of start()'s named barrier; ids from 1 on are the warpgroups'.
constexpr int kStartBarrier = 15;

/// Waits until the barriers are initialised, in a cluster those of all its CTAs. All warps call it; those that use no
/// barrier take part only where others wait for them.
__device__ __forceinline__ void start(bool uses_barriers) {
  constexpr int kUsers = kConsumers * 128 + (kCopiesByThreads ? 128 : 32);
  if constexpr (kCluster > 1) {
    pgtune::cluster_sync();
  } else {
    if (uses_barriers) pgtune::named_barrier_sync_unaligned<kUsers>(kStartBarrier);
  }
}

/// Returns where a warpgroup reads the left operand's rows from `row` on: the lower half of its descriptor or, with the
/// operand from registers, where a lane reads those of its warp.
__device__ __forceinline__ unsigned left_of(unsigned tile, int row, [[maybe_unused]] int row_of_warp) {
#if LEFT_SOURCE == LABEL_registers
  return TransposedFragment::place(tile, row + row_of_warp);
#else
  return Left::lower(tile) + row / kRows * Left::offset(kRows, 0);
#endif
}

/// Warpgroups that compute a tile together.
constexpr int kGroups = kTileWarps / 4;

/// Returns the part of stream-K's workspace that belongs to one of a worker's warpgroups.
__device__ __forceinline__ StreamKReduction stream_k_reduction(char* partials, char* flags) {
  // With pingpong a worker's first segment, the only one that it may hand over, belongs to the first warpgroup.
  const int group = pgtune::thread_index() / 128, number = tile_rank() * kGroups + (kPingPong ? 0 : group);
  return {reinterpret_cast<float4*>(partials) + number * (kAccumulators / 4 * 128),
          reinterpret_cast<unsigned*>(flags) + number, kCluster * kGroups, 1 + group};
}

/// Returns where in the product the part of a tile starts that a warp stores: all its warpgroup's columns or this
/// worker's slice of them.
__device__ __forceinline__ pgtune::TileCoord part_of_warp(const pgtune::TileCoord& tile, int warp, int worker) {
  const int group = kPingPong ? 0 : warp / 4;
  return {tile.row + group % WARPGROUPS_M * kRows + warp % 4 * 16,
          tile.column + group / WARPGROUPS_M * INSTRUCTION_N + part_rank(worker) * kSliceColumns, tile.batch};
}

/// Stores a warpgroup's accumulators of a tile.
template <int kCount>
__device__ __forceinline__ void write_tile(pgtune::Accumulator (&acc)[kInstructions][kCount],
                                           const pgtune::Destination& to, const pgtune::TileCoord& tile, int warp,
                                           int worker, unsigned buffers) {
  const auto [row, column, batch] = part_of_warp(tile, warp, worker);
#pragma unroll
  for (int m = 0; m < kInstructions; ++m) {
    Output::write<kStore>(acc[m], to, row + m * 64, column, batch, buffers, warp, m);
  }
}

}  // namespace

/// `workspace` holds prepared operands first, then partial accumulators of tiles that are split along K from
/// `partials_at`, then their flags from `flags_at`, in bytes. `right_origin` is where the right operand's columns start
/// in its maps, of which the last ones are of last tiles. `along_inverse` and `last_inverse` are those of
/// PreparedRasterization.
extern "C" __global__ void __launch_bounds__(kThreads, CTAS_PER_SM) gemm_wgmma(
#if COPY == LABEL_cp_async
    const char* A, long long lda, long long stride_a, const char* B, long long ldb, long long stride_b,
#else
    const __grid_constant__ pgtune::TensorMap map_left, const __grid_constant__ pgtune::TensorMap map_right,
    const __grid_constant__ pgtune::TensorMap map_left_last, const __grid_constant__ pgtune::TensorMap map_right_last,
#endif
    const __grid_constant__ pgtune::TensorMap map_out, const void* C, void* D, char* workspace, long long partials_at,
    long long flags_at, int rows, int columns, int depth, int right_origin, long long ldc, long long stride_c,
    int batches, float alpha, float beta, const void* bias, int along_inverse, int last_inverse) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const unsigned stages = pgtune::shared_address(shared), buffers = stages + STAGES * kStageBytes;
  const unsigned parts = buffers + (kStore != pgtune::Store::kDirect ? kConsumers * 4 * Output::kBytes : 0);
  const unsigned full = parts + kConsumers * ClusterReduction::kBytes, empty = full + 8 * STAGES;
  const unsigned order = empty + 8 * STAGES, received = order;

  if (threadIdx.x == 0) {
    for (int stage = 0; stage < STAGES; ++stage) {
      pgtune::mbarrier_init(full + 8 * stage, kCopiesByThreads ? 128 : 1);
      pgtune::mbarrier_init(empty + 8 * stage, kTileWarps * kCluster);
    }
    for (int g = 0; kPingPong && g < 2; ++g) pgtune::mbarrier_init(order + 8 * g, 4);
    for (int g = 0; CLUSTER_K > 1 && g < kConsumers; ++g) pgtune::mbarrier_init(received + 8 * g, 1);
    pgtune::mbarrier_init_fence();
    for (int g = 0; CLUSTER_K > 1 && g < kConsumers; ++g)
      pgtune::mbarrier_arrive_expect_tx(received + 8 * g, ClusterReduction::kBytes);
  }
  if (threadIdx.x == kConsumers * 128 + 32) {
#if COPY == LABEL_tma
    pgtune::prefetch_tensor_map(map_left);
    pgtune::prefetch_tensor_map(map_right);
    pgtune::prefetch_tensor_map(map_left_last);
    pgtune::prefetch_tensor_map(map_right_last);
#endif
    if (kStoresByTma) pgtune::prefetch_tensor_map(map_out);
  }
  if constexpr (CLUSTER_K > 1) pgtune::cluster_arrive();

  const Sizes sizes{rows, columns, depth, batches, along_inverse, last_inverse};
  constexpr int kWorkerCtas = kCluster * CLUSTER_K;
  const int worker = static_cast<int>(blockIdx.x) / kWorkerCtas, workers = static_cast<int>(gridDim.x) / kWorkerCtas;
  // The warp's number comes from lane 0, so that the compiler knows it to be the same in the whole warp.
  const int warp = __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x) / 32, 0), group = warp / 4;

  if (group == kConsumers) {
    if (kReallocatesRegisters) pgtune::register_dealloc<kProducerRegisters>();
    // The producer finds its first work tile while a consumer thread initialises the barriers.
    TileScheduler at(sizes, worker, workers);
    asm volatile("" ::"r"(stages));
    start(kCopiesByThreads || warp == kConsumers * 4);
#if COPY == LABEL_cp_async
    const pgtune::CopySource of_a{A, lda * ELEM_BYTES, stride_a * ELEM_BYTES};
    const pgtune::CopySource of_b{B, ldb * ELEM_BYTES, stride_b * ELEM_BYTES};
    produce_by_copies(SWAP_AB ? of_b : of_a, SWAP_AB ? of_a : of_b, sizes, at, stages, full, empty);
#else
    if (threadIdx.x == kConsumers * 128)
      produce({map_left, map_left_last}, {map_right, map_right_last}, sizes, at, right_origin, stages, full, empty,
              tile_rank());
#endif
  } else {
    start(true);
    if (kReallocatesRegisters) pgtune::register_alloc<kConsumerRegisters>();
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int group_m = kPingPong ? 0 : group % WARPGROUPS_M, group_n = kPingPong ? 0 : group / WARPGROUPS_M;
    const ConsumerParams from{left_of(stages, group_m * kRows, warp % 4 * 16),
                              Right::lower(stages + kLeftBytes) + group_n * Right::offset(INSTRUCTION_N, 0), full,
                              lane >= kCluster ? 0
                              : kCluster == 1  ? empty
                                               : pgtune::map_shared_address(empty, lane)};
    const pgtune::Destination to{&map_out, C,    D,   ldc, stride_c, SWAP_AB ? columns : rows, SWAP_AB ? rows : columns,
                                 alpha,    beta, bias};
    pgtune::PipelineState<STAGES> now{0, 0};
    for (TileScheduler at(sizes, worker, workers); at.valid; at.next()) {
      const int blocks = at.work_tile.blocks();
      if (kPingPong && at.number % 2 != group) {
        skip(now, blocks);
        continue;
      }
      Accumulators acc;
      if (kPingPong) pgtune::mbarrier_wait(order + 8 * group, (at.number / 2 + group + 1) % 2);
      const unsigned next_order = order + 8 * (1 - group);
#if C_SOURCE == LABEL_shared
      const auto while_multiplying = [&] {
        if (DECOMPOSITION == LABEL_stream_k && at.work_tile.first > 0) return;  // another worker stores the tile
        if (kOverlapsLaunchBefore) pgtune::griddepcontrol_wait();
        const auto [row, column, batch] = part_of_warp(at.tile, warp, worker);
        Output::start_c(to, row, column, batch, buffers, warp);
      };
#else
      const auto while_multiplying = [] {};
#endif
#if LEFT_SOURCE == LABEL_registers
      multiply_from_registers(acc, blocks, now, from, next_order, while_multiplying);
#else
      if constexpr (PROMOTION_INTERVAL == 0) {
        multiply(acc, blocks, now, from, next_order, while_multiplying);
      } else {
        multiply_promoted(acc, blocks, now, from, next_order, while_multiplying);
      }
#endif
      if constexpr (DECOMPOSITION == LABEL_stream_k) {
        pgtune::Accumulator* const all = &acc[0][0];
        if (at.work_tile.first > 0) {
          stream_k_reduction(workspace + partials_at, workspace + flags_at).store_partial(all, worker);
          continue;
        }
        if (at.work_tile.last < at.work().blocks) {
          stream_k_reduction(workspace + partials_at, workspace + flags_at)
              .add_partials(all, at.work(), at.work_tile, worker);
        }
      }
      if constexpr (CLUSTER_K > 1) {
        ClusterReduction::Slice own;
        pgtune::cluster_wait();
        ClusterReduction::exchange(own, acc, parts + group * ClusterReduction::kBytes, received + 8 * group,
                                   part_rank(worker));
        write_tile(own, to, at.tile, warp, worker, buffers);
      } else if constexpr (SPLIT_K > 1) {
        SplitKReduction::Slice own;
        const int number = (at.work_tile.tile * kCluster + tile_rank()) * kGroups + group;
        const bool finishes = SplitKReduction::exchange(
            own, acc, reinterpret_cast<float4*>(workspace + partials_at) + number * SplitKReduction::kFours,
            reinterpret_cast<unsigned*>(workspace + flags_at) + number, part_rank(worker), 1 + group);
        if (finishes) write_tile(own, to, at.tile, warp, worker, buffers);
      } else {
        write_tile(acc, to, at.tile, warp, worker, buffers);
      }
    }
    if (kStoresByTma) pgtune::tma_store_wait_read<0>();
  }
}
