// SPDX-License-Identifier: MIT
// D = activation(alpha * op(A) * op(B) + beta * C + bias) on Hopper's tensor cores (wgmma, sm_90a), fed by the copy
// engine (TMA).
//
// A ring of STAGES tiles in shared memory is filled by one thread of the last warpgroup, the asking one; the others
// compute. CTAs of a cluster that need the same tile of an operand ask for a part each, which goes to all of them.
// CTAs stay and take one piece of work after the other; the ring runs on from tile to tile, so that the next tile's
// first copies are under way while this one's results are written.
//
//   cooperative   all computing warpgroups share each tile, cut along M or N
//   pingpong      two warpgroups take every other tile: one writes its results while the other computes
//
//   barrier     its p-th phase completes when                     who waits for it
//   full[s]     the stage's bytes have arrived in this CTA        computing warps, before they read stage s
//   empty[s]    in each CTA of the cluster, each warp of the      the asking thread, before it fills stage s again
//               tile's warpgroups has read the stage
//   turn[g]     pingpong: the other warpgroup has asked for all   warpgroup g, before it waits for its p-th tile
//               products of the tile before g's p-th
//   given[g]    clusters along K: the other CTAs' sums of this    warpgroup g, once: such a cluster has one tile
//               CTA's slice of the tile have arrived
//
// Phases are waited for by their parity, which is sound as long as nobody waits for a phase before the one before it is
// complete. A fresh barrier counts as complete in parity 1: so `empty` is passed in the first turn of the ring, and
// turn[0] for the first tile. `full` is complete up to the stage before the one waited for: within a tile because
// stages are waited for in order, from tile to tile because of the order of the warps or, with pingpong, because of
// `turn`. At the end a clustered CTA waits for all its stages to be empty, after which no other CTA arrives in its
// shared memory.
//
// The product's left operand has BM rows a tile, the right one BN columns: A and B, or B and A transposed where SWAP
// is 1, which suits few rows of D because the instruction takes 64 rows but as little as 8 columns.
//
// Tensor cores take operands of 8 and 32 bits only along K. A left operand that lies otherwise is turned on its way to
// registers (wgmma_turned.cuh), where it is read from then; a right one by a kernel before the product, which also
// copies what lies where TMA cannot read it (wgmma_before.cuh). Float32 accuracy (tf32x3) comes from operands that this
// kernel splits into PARTS numbers of fewer bits: a stage holds all of them, and the products that count are added to
// the same sums.
//
// Tiles of long sums and few tiles are cut along K: among the CTAs of a cluster, which exchange slices of their sums
// through shared memory (CLUSTER_K), among as many CTAs that do so through the workspace (SPLIT of 2 and more), or so
// that every CTA has equally many k-blocks (stream-K, SPLIT of 0). The order of the additions never changes.
#include "device/epilogue/split_k_reduction.cuh"
#include "device/epilogue/stream_k_reduction.cuh"
#include "device/epilogue/wgmma_output.cuh"
#include "device/mainloop/wgmma_producer.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/ptx/shared_memory.cuh"
#if LEFT_FROM == LABEL_registers
#include "device/mainloop/wgmma_register_consumer.cuh"
#else
#include "device/mainloop/wgmma_consumer.cuh"
#endif
#if PREPARES
#include "device/copy/wgmma_prepare.cuh"
#endif

namespace {

using namespace pgtune::product;

constexpr auto kSixteen = MATH_MODE == LABEL_f16 ? pgtune::Sixteen::kF16 : pgtune::Sixteen::kBf16;
constexpr bool kTurnsLeft = LEFT_FROM == LABEL_registers;
constexpr bool kStoresByCopyEngine = EPILOGUE == LABEL_tma;
using Output = pgtune::WgmmaOutput<SWAP, OUT_BYTES, kSixteen, OUT_PAIRS, OUT_HINT == LABEL_first, kSliceColumns,
                                   OUT_SPAN, 2, kTurnsLeft ? 1 : 8>;
using Given = pgtune::ClusterSums<CLUSTER_K, kInstructions, pgtune::kSumsOfInstruction>;
using Split = pgtune::SplitSums<(SPLIT > 1 ? SPLIT : 1), kInstructions, pgtune::kSumsOfInstruction>;

/// Registers of a thread when the kernel starts, as many as the launch bounds allow. What the asking warpgroup gives up
/// of them the others take; more than that is never there, and whoever asked for it would wait for ever.
constexpr int kLaunchRegisters = 65536 / (CTAS * kThreads) / 8 * 8;
constexpr int kAskingRegisters = kConsumers == 3 ? 32 : kShares ? 40 : 24;
constexpr int kComputingRegisters = (kLaunchRegisters * (kConsumers + 1) - kAskingRegisters) / kConsumers / 8 * 8;
static_assert(kAskingRegisters + kConsumers * kComputingRegisters <= kLaunchRegisters * (kConsumers + 1),
              "no more registers than there are");
constexpr bool kSharesRegisters = kConsumers > 1 || CTAS > 1;

__device__ __forceinline__ void skip(pgtune::RingPlace<STAGES>& place, int stages) {
  const unsigned to = static_cast<unsigned>(place.stage + stages);
  place.parity ^= to / STAGES % 2;
  place.stage = static_cast<int>(to % STAGES);
}

/// The number of start()'s barrier; those from 1 on are the warpgroups'.
constexpr int kStartBarrier = 15;

/// Waits until the barriers are initialised, in a cluster those of all its CTAs. Called by all warps; those that use no
/// barrier only have to be there where others wait for them.
__device__ __forceinline__ void start(bool uses_barriers) {
  constexpr int kUsers = kConsumers * 128 + 32;
  if constexpr (kCluster > 1) {
    pgtune::sync_cluster();
  } else {
    if (uses_barriers) pgtune::sync_roles<kUsers>(kStartBarrier);
  }
}

/// Where a warpgroup reads the left operand's rows from `row` on: its descriptor's lower half or, from registers, where
/// a lane reads those of the warp.
__device__ __forceinline__ unsigned left_of(unsigned tile, int row, [[maybe_unused]] int row_of_warp) {
#if LEFT_FROM == LABEL_registers
  return TurnedFragment::place(tile, row + row_of_warp);
#else
  return Left::lower(tile) + row / kRows * Left::offset(kRows, 0);
#endif
}

/// Warpgroups that compute a tile.
constexpr int kGroups = kTileWarps / 4;

/// Stream-K: places in the workspace of one of a worker's warpgroups.
__device__ __forceinline__ pgtune::SharedSums<kSums> shared_sums(char* partials, char* flags) {
  // With pingpong a worker's first segment, the only one that it may give away, is the first warpgroup's.
  const int group = pgtune::thread_index() / 128, number = tile_rank() * kGroups + (kPingPong ? 0 : group);
  return {reinterpret_cast<float4*>(partials) + number * (kSums / 4 * 128), reinterpret_cast<unsigned*>(flags) + number,
          kCluster * kGroups, 1 + group};
}

/// Writes a warpgroup's sums of a tile, of all its columns or of this worker's slice of them.
template <int kCount>
__device__ __forceinline__ void write_tile(float (&sums)[kInstructions][kCount], const pgtune::Destination& to,
                                           const pgtune::TileAt& tile, int warp, int worker, unsigned buffers) {
  const int group = kPingPong ? 0 : warp / 4;
  const int row = tile.row + group % WARPGROUPS_M * kRows + warp % 4 * 16;
  const int column = tile.column + group / WARPGROUPS_M * INSTRUCTION_N + part_rank(worker) * kSliceColumns;
#pragma unroll
  for (int m = 0; m < kInstructions; ++m) {
    Output::write<kStoresByCopyEngine>(sums[m], to, row + m * 64, column, tile.batch, buffers + warp * Output::kBytes,
                                       m);
  }
}

}  // namespace

/// `workspace` holds operands that are prepared first, then partial sums of tiles that are cut along K from
/// `partials_at`, then their flags from `flags_at`, in bytes. `right_origin`: where the right operand's columns start
/// in its map. `along_inverse`, `last_inverse`: see PreparedOrder.
extern "C" __global__ void __launch_bounds__(kThreads, CTAS)
    gemm_wgmma(const __grid_constant__ pgtune::TensorMap map_left, const __grid_constant__ pgtune::TensorMap map_right,
               const __grid_constant__ pgtune::TensorMap map_out, const void* C, void* D, char* workspace,
               long long partials_at, long long flags_at, int rows, int columns, int depth, int right_origin,
               long long ldc, long long stride_c, int batches, float alpha, float beta, const void* bias,
               int along_inverse, int last_inverse) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const unsigned stages = pgtune::shared_address(shared), buffers = stages + STAGES * kStageBytes;
  const unsigned parts = buffers + (kStoresByCopyEngine ? kConsumers * 4 * Output::kBytes : 0);
  const unsigned full = parts + kConsumers * Given::kBytes, empty = full + 8 * STAGES;
  const unsigned turn = empty + 8 * STAGES, given = turn;

  if (threadIdx.x == 0) {
    for (int stage = 0; stage < STAGES; ++stage) {
      pgtune::barrier_init(full + 8 * stage, 1);
      pgtune::barrier_init(empty + 8 * stage, kTileWarps * kCluster);
    }
    for (int g = 0; kPingPong && g < 2; ++g) pgtune::barrier_init(turn + 8 * g, 4);
    for (int g = 0; CLUSTER_K > 1 && g < kConsumers; ++g) pgtune::barrier_init(given + 8 * g, 1);
    pgtune::barrier_init_fence();
    for (int g = 0; CLUSTER_K > 1 && g < kConsumers; ++g) pgtune::barrier_arrive_expect(given + 8 * g, Given::kBytes);
  }
  if (threadIdx.x == kConsumers * 128 + 32) {
    pgtune::prefetch_map(map_left);
    pgtune::prefetch_map(map_right);
    if (kStoresByCopyEngine) pgtune::prefetch_map(map_out);
  }
  if constexpr (CLUSTER_K > 1) pgtune::announce_to_cluster();

  const Sizes sizes{rows, columns, depth, batches, along_inverse, last_inverse};
  constexpr int kWorkerCtas = kCluster * CLUSTER_K;
  const int worker = static_cast<int>(blockIdx.x) / kWorkerCtas, workers = static_cast<int>(gridDim.x) / kWorkerCtas;
  // From lane 0, so that the compiler knows it to be the same in the whole warp.
  const int warp = __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x) / 32, 0), group = warp / 4;

  if (group == kConsumers) {
    if (kSharesRegisters) pgtune::give_up_registers<kAskingRegisters>();
    // What the first copies need to know is found while a thread that computes initialises the barriers.
    Pieces at(sizes, worker, workers);
    asm volatile("" ::"r"(stages));
    start(warp == kConsumers * 4);
    if (threadIdx.x == kConsumers * 128) feed(map_left, map_right, at, right_origin, stages, full, empty, tile_rank());
  } else {
    start(true);
    if (kSharesRegisters) pgtune::take_registers<kComputingRegisters>();
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int group_m = kPingPong ? 0 : group % WARPGROUPS_M, group_n = kPingPong ? 0 : group / WARPGROUPS_M;
    const Reading from{left_of(stages, group_m * kRows, warp % 4 * 16),
                       Right::lower(stages + kLeftBytes) + group_n * Right::offset(INSTRUCTION_N, 0), full,
                       lane >= kCluster ? 0
                       : kCluster == 1  ? empty
                                        : pgtune::shared_address_at(empty, lane)};
    const pgtune::Destination to{&map_out, C,    D,   ldc, stride_c, SWAP ? columns : rows, SWAP ? rows : columns,
                                 alpha,    beta, bias};
    pgtune::RingPlace<STAGES> now{0, 0};
    for (Pieces at(sizes, worker, workers); at.there; at.next()) {
      const int blocks = at.piece.blocks();
      if (kPingPong && at.number % 2 != group) {
        skip(now, blocks);
        continue;
      }
      Sums sums;
      if (kPingPong) pgtune::barrier_wait(turn + 8 * group, (at.number / 2 + group + 1) % 2);
      const unsigned asked = turn + 8 * (1 - group);
#if LEFT_FROM == LABEL_registers
      multiply_turned(sums, blocks, now, from, asked);
#else
      if constexpr (PROMOTE == 0) {
        multiply(sums, blocks, now, from, asked);
      } else {
        multiply_promoted(sums, blocks, now, from, asked, !kPingPong && group == 1);
      }
#endif
      if constexpr (SPLIT == 0) {
        float* const all = &sums[0][0];
        if (at.piece.first > 0) {
          shared_sums(workspace + partials_at, workspace + flags_at).give(all, worker);
          continue;
        }
        if (at.piece.last < at.work().blocks) {
          shared_sums(workspace + partials_at, workspace + flags_at).collect(all, at.work(), at.piece, worker);
        }
      }
      if constexpr (CLUSTER_K > 1) {
        Given::Slice own;
        pgtune::await_cluster();
        Given::exchange(own, sums, parts + group * Given::kBytes, given + 8 * group, part_rank(worker));
        write_tile(own, to, at.tile, warp, worker, buffers);
      } else if constexpr (SPLIT > 1) {
        Split::Slice own;
        const int number = (at.piece.tile * kCluster + tile_rank()) * kGroups + group;
        Split::exchange(own, sums, reinterpret_cast<float4*>(workspace + partials_at) + number * Split::kFours,
                        reinterpret_cast<unsigned*>(workspace + flags_at) + number, part_rank(worker), 1 + group);
        write_tile(own, to, at.tile, warp, worker, buffers);
      } else {
        write_tile(sums, to, at.tile, warp, worker, buffers);
      }
    }
    if (kStoresByCopyEngine) pgtune::stores_read<0>();
  }
}
