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
#include "device/cluster.cuh"
#include "device/mbarrier.cuh"
#include "device/register_share.cuh"
#include "device/shared_sums.cuh"
#include "device/tile_order.cuh"
#include "device/tma.cuh"
#if TURNS
#include "device/pack.cuh"
#include "device/transpose_bytes.cuh"
#endif
#include "device/wgmma.cuh"
#include "device/wgmma_operand.cuh"
#include "device/wgmma_output.cuh"

namespace {

constexpr bool kPingPong = SCHEDULE == LABEL_pingpong;
constexpr int kConsumers = COMPUTING;                       ///< warpgroups
constexpr int kTileWarps = kPingPong ? 4 : 4 * kConsumers;  ///< that compute a tile
constexpr int kThreads = (kConsumers + 1) * 128;
constexpr int kCluster = CLUSTER_M * CLUSTER_N;
constexpr bool kShares = SPLIT != 1;  ///< tiles are cut along K

constexpr int kDepth = DEPTH_BYTES / ELEM_BYTES;                   ///< steps of K in a stage
constexpr int kInstructionDepth = 32 / ELEM_BYTES;                 ///< and in an instruction
constexpr int kRows = BM / WARPGROUPS_M;                           ///< of the tile, for each warpgroup
constexpr int kInstructions = kRows / 64;                          ///< below each other
constexpr int kSums = kInstructions * pgtune::kSumsOfInstruction;  ///< of a thread
using Sums = float[kInstructions][pgtune::kSumsOfInstruction];
using Left = pgtune::WgmmaOperand<LEFT_MN_MAJOR, BM, kDepth, ELEM_BYTES, LEFT_SPAN>;
using Right = pgtune::WgmmaOperand<RIGHT_MN_MAJOR, BN, kDepth, ELEM_BYTES, RIGHT_SPAN>;
constexpr int kStageBytes = Left::kBytes + Right::kBytes;
static_assert(kStageBytes < 1 << 20, "what a barrier can count");

constexpr auto kSixteen = MATH_MODE == LABEL_f16 ? pgtune::Sixteen::kF16 : pgtune::Sixteen::kBf16;
constexpr bool kStoresByCopyEngine = EPILOGUE == LABEL_tma;
using Output =
    pgtune::WgmmaOutput<SWAP, OUT_BYTES, kSixteen, OUT_PAIRS, OUT_HINT == LABEL_first, INSTRUCTION_N, OUT_SPAN, 2>;

/// Registers of a thread when the kernel starts, as many as the launch bounds allow. What the asking warpgroup gives up
/// of them the others take; more than that is never there, and whoever asked for it would wait for ever.
constexpr int kLaunchRegisters = 65536 / (CTAS * kThreads) / 8 * 8;
constexpr int kAskingRegisters = kConsumers == 3 ? 32 : kShares ? 40 : 24;
constexpr int kComputingRegisters = (kLaunchRegisters * (kConsumers + 1) - kAskingRegisters) / kConsumers / 8 * 8;
static_assert(kAskingRegisters + kConsumers * kComputingRegisters <= kLaunchRegisters * (kConsumers + 1),
              "no more registers than there are");
constexpr bool kSharesRegisters = kConsumers > 1 || CTAS > 1;

/// Threads that meet before the first phase: those that compute, and the warp that initialises the barriers.
constexpr int kStarters = kConsumers * 128 + 32;

using RingPlace = pgtune::RingPlace<STAGES>;

__device__ __forceinline__ void skip(RingPlace& place, int stages) {
  const unsigned to = static_cast<unsigned>(place.stage + stages);
  place.parity ^= to / STAGES % 2;
  place.stage = static_cast<int>(to % STAGES);
}

__device__ __forceinline__ int cluster_rank() { return kCluster == 1 ? 0 : static_cast<int>(pgtune::cluster_rank()); }

/// The product's size in elements, and in tiles of a cluster.
struct Sizes {
  int rows, columns, depth, batches;
  __device__ __forceinline__ unsigned tile_rows() const { return (rows - 1) / (BM * CLUSTER_M) + 1; }
  __device__ __forceinline__ unsigned tile_columns() const { return (columns - 1) / (BN * CLUSTER_N) + 1; }
  __device__ __forceinline__ pgtune::TileWork work(int workers) const {
    return {static_cast<int>(tile_rows() * tile_columns()) * batches, (depth - 1) / kDepth + 1, workers,
            kShares ? pgtune::Sharing::kStream : pgtune::Sharing::kNone};
  }
  /// Where in the product the tile of this CTA of the cluster starts.
  __device__ __forceinline__ pgtune::TileAt tile(int index, int rank) const {
    const auto at = pgtune::ordered_tile<BANDS == LABEL_n, BAND>(index, tile_rows(), tile_columns(), batches);
    return {(at.row * CLUSTER_M + rank % CLUSTER_M) * BM, (at.column * CLUSTER_N + rank / CLUSTER_M) * BN, at.batch};
  }
};

constexpr unsigned long long policy(long long hint) {
  return hint == LABEL_first ? pgtune::kEvictFirst : pgtune::kEvictLast;
}

/// Asks for all tiles of a CTA's work.
__device__ __forceinline__ void feed(const pgtune::TensorMap& map_left, const pgtune::TensorMap& map_right,
                                     const Sizes& sizes, int right_origin, unsigned stages, unsigned full,
                                     unsigned empty, int rank, int worker, int workers) {
  // CTAs with the same rows share the left tile, those with the same columns the right one.
  const int rank_m = rank % CLUSTER_M, rank_n = rank / CLUSTER_M;
  unsigned mask_left = 0, mask_right = 0;
#pragma unroll
  for (int i = 0; i < CLUSTER_N; ++i) mask_left |= 1u << (rank_m + i * CLUSTER_M);
#pragma unroll
  for (int i = 0; i < CLUSTER_M; ++i) mask_right |= 1u << (i + rank_n * CLUSTER_M);

  const pgtune::TileWork work = sizes.work(workers);
  pgtune::Segment segment;
  RingPlace to{0, 1};
  for (int i = 0; work.segment(segment, i, worker); ++i) {
    const pgtune::TileAt tile = sizes.tile(segment.tile, rank);
#pragma unroll 1
    for (int block = segment.first; block < segment.last; ++block) {
      pgtune::barrier_wait(empty + 8 * to.stage, to.parity);
      const unsigned barrier = full + 8 * to.stage, stage = stages + kStageBytes * to.stage;
      pgtune::barrier_arrive_expect(barrier, kStageBytes);
      Left::load<CLUSTER_N, LEFT_HINT != LABEL_normal>(stage, map_left, tile.row, block * kDepth, tile.batch, barrier,
                                                       rank_n, mask_left, policy(LEFT_HINT));
      Right::load<CLUSTER_M, RIGHT_HINT != LABEL_normal>(stage + Left::kBytes, map_right, right_origin + tile.column,
                                                         block * kDepth, tile.batch, barrier, rank_m, mask_right,
                                                         policy(RIGHT_HINT));
      to.advance();
    }
  }
  if constexpr (kCluster > 1) {
    for (int s = 0; s < STAGES; ++s) {
      pgtune::barrier_wait(empty + 8 * to.stage, to.parity);
      to.advance();
    }
  }
}

/// The named barrier at the start, which some only arrive at.
template <int kCount>
__device__ __forceinline__ void arrive_threads() {
  asm volatile("bar.arrive 0, %0;" ::"n"(kCount) : "memory");
}
template <int kCount>
__device__ __forceinline__ void sync_threads() {
  asm volatile("bar.sync 0, %0;" ::"n"(kCount) : "memory");
}

/// Tells whoever fills a stage that this warp has read it; `barrier` is 0 in lanes that tell nobody.
__device__ __forceinline__ void release_stage(unsigned release, unsigned barrier) {
  if (release == 0) return;
  if constexpr (kCluster > 1) {
    pgtune::barrier_arrive_at(barrier);
  } else {
    pgtune::barrier_arrive(barrier);
  }
}

/// Sums of a segment's stages, from the ring place `now` on. `release` is this lane's address of empty[0], or 0;
/// with pingpong each warp arrives at `asked`, if it is not 0, when it has asked for all products.
__device__ __forceinline__ void multiply(Sums& sums, int blocks, RingPlace& now, unsigned left, unsigned right,
                                         unsigned full, unsigned release, unsigned asked) {
  unsigned before = 0;
#pragma unroll 1
  for (int block = 0; block < blocks; ++block) {
    pgtune::barrier_wait(full + 8 * now.stage, now.parity);
    pgtune::products_begin();
    const unsigned stage = now.stage * (kStageBytes / 16);
#pragma unroll
    for (int k = 0; k < kDepth; k += kInstructionDepth) {
#pragma unroll
      for (int i = 0; i < kInstructions; ++i) {
        pgtune::multiply_tiles(sums[i], Left::descriptor(left + stage + Left::offset(i * 64, k)),
                               Right::descriptor(right + stage + Right::offset(0, k)), k > 0 ? 1 : block > 0);
      }
    }
    pgtune::products_commit();
    pgtune::products_wait<WAIT_DEPTH>();
    const unsigned here = release + 8 * now.stage;
    if (WAIT_DEPTH == 0 || block > 0) release_stage(release, WAIT_DEPTH == 0 ? here : before);
    before = here;
    now.advance();
  }
  if (kPingPong && asked != 0 && pgtune::lane_index() == 0) pgtune::barrier_arrive(asked);
  pgtune::products_wait<0>();
  if (WAIT_DEPTH > 0) release_stage(release, before);
#pragma unroll
  for (int i = 0; i < kInstructions; ++i) pgtune::keep_sums(sums[i]);
}

/// multiply(), with the sums of PROMOTE k-blocks at a time added up outside of the tensor cores, which keep fewer than
/// float32's bits of a sum of 8-bit products.
__device__ __forceinline__ void multiply_promoted(Sums& sums, int blocks, RingPlace& now, unsigned left, unsigned right,
                                                  unsigned full, unsigned release, unsigned asked) {
  constexpr int kAtOnce = PROMOTE > 0 ? PROMOTE : 1;
#pragma unroll 1
  for (int done = 0; done < blocks; done += kAtOnce) {
    Sums some;
    const int rest = blocks - done;
    multiply(some, rest < kAtOnce ? rest : kAtOnce, now, left, right, full, release, rest > kAtOnce ? 0 : asked);
#pragma unroll
    for (int i = 0; i < kSums; ++i) {
      float& sum = sums[i / pgtune::kSumsOfInstruction][i % pgtune::kSumsOfInstruction];
      const float more = some[i / pgtune::kSumsOfInstruction][i % pgtune::kSumsOfInstruction];
      sum = done == 0 ? more : sum + more;
    }
  }
}

/// Places in the workspace of one of a worker's warpgroups.
__device__ __forceinline__ pgtune::SharedSums<kSums> shared_sums(char* partials, char* flags) {
  // With pingpong a worker's first segment, the only one that it may give away, is the first warpgroup's.
  constexpr int kGroups = kTileWarps / 4;
  const int group = pgtune::thread_index() / 128, number = cluster_rank() * kGroups + (kPingPong ? 0 : group);
  return {reinterpret_cast<float4*>(partials) + number * (kSums / 4 * 128), reinterpret_cast<unsigned*>(flags) + number,
          kCluster * kGroups, 1 + group};
}

}  // namespace

/// `workspace` holds operands that are turned first, then partial sums of tiles that are cut along K from
/// `partials_at`, then their flags from `flags_at`, in bytes. `right_origin`: where the right operand's columns start
/// in its map.
extern "C" __global__ void __launch_bounds__(kThreads, CTAS)
    gemm_wgmma(const __grid_constant__ pgtune::TensorMap map_left, const __grid_constant__ pgtune::TensorMap map_right,
               const __grid_constant__ pgtune::TensorMap map_out, const void* C, void* D, char* workspace,
               long long partials_at, long long flags_at, int rows, int columns, int depth, int right_origin,
               long long ldc, long long stride_c, int batches, float alpha, float beta, const void* bias) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const unsigned stages = pgtune::shared_address(shared), buffers = stages + STAGES * kStageBytes;
  const unsigned full = buffers + (kStoresByCopyEngine ? kConsumers * 4 * Output::kBytes : 0),
                 empty = full + 8 * STAGES;
  const unsigned turn = empty + 8 * STAGES;

  const bool asks = threadIdx.x == kConsumers * 128;
  if (asks) {
    for (int stage = 0; stage < STAGES; ++stage) {
      pgtune::barrier_init(full + 8 * stage, 1);
      pgtune::barrier_init(empty + 8 * stage, kTileWarps * kCluster);
    }
    for (int g = 0; kPingPong && g < 2; ++g) pgtune::barrier_init(turn + 8 * g, 4);
    pgtune::barrier_init_fence();
  }
  if (threadIdx.x == kConsumers * 128 + 32) {
    pgtune::prefetch_map(map_left);
    pgtune::prefetch_map(map_right);
    if (kStoresByCopyEngine) pgtune::prefetch_map(map_out);
  }
  if constexpr (kCluster > 1) pgtune::sync_cluster();

  const Sizes sizes{rows, columns, depth, batches};
  const int worker = static_cast<int>(blockIdx.x) / kCluster, workers = static_cast<int>(gridDim.x) / kCluster;
  // From lane 0, so that the compiler knows it to be the same in the whole warp.
  const int warp = __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x) / 32, 0), group = warp / 4;

  if (group == kConsumers) {
    if (kSharesRegisters) pgtune::give_up_registers<kAskingRegisters>();
    // The first copies wait for nobody of this CTA.
    if (kCluster == 1 && warp == kConsumers * 4) arrive_threads<kStarters>();
    if (asks) {
      feed(map_left, map_right, sizes, right_origin, stages, full, empty, cluster_rank(), worker, workers);
    }
  } else {
    if (kSharesRegisters) pgtune::take_registers<kComputingRegisters>();
    if (kCluster == 1) sync_threads<kStarters>();
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int group_m = kPingPong ? 0 : group % WARPGROUPS_M, group_n = kPingPong ? 0 : group / WARPGROUPS_M;
    const unsigned left = Left::lower(stages) + group_m * Left::offset(kRows, 0);
    const unsigned right = Right::lower(stages + Left::kBytes) + group_n * Right::offset(INSTRUCTION_N, 0);
    const unsigned release = lane >= kCluster ? 0 : kCluster == 1 ? empty : pgtune::shared_address_at(empty, lane);
    const pgtune::Destination to{&map_out, C,    D,   ldc, stride_c, SWAP ? columns : rows, SWAP ? rows : columns,
                                 alpha,    beta, bias};
    const pgtune::TileWork work = sizes.work(workers);
    pgtune::Segment segment;
    RingPlace now{0, 0};
    for (int i = 0; work.segment(segment, i, worker); ++i) {
      if (kPingPong && i % 2 != group) {
        skip(now, segment.last - segment.first);
        continue;
      }
      Sums sums;
      if (kPingPong) pgtune::barrier_wait(turn + 8 * group, (i / 2 + group + 1) % 2);
      const int blocks = segment.last - segment.first;
      const unsigned asked = turn + 8 * (1 - group);
      if constexpr (PROMOTE == 0) {
        multiply(sums, blocks, now, left, right, full, release, asked);
      } else {
        multiply_promoted(sums, blocks, now, left, right, full, release, asked);
      }
      if constexpr (kShares) {
        float* const all = &sums[0][0];
        if (segment.first > 0) {
          shared_sums(workspace + partials_at, workspace + flags_at).give(all, worker);
          continue;
        }
        if (segment.last < work.blocks) {
          shared_sums(workspace + partials_at, workspace + flags_at).collect(all, work, segment, worker);
        }
      }
      const pgtune::TileAt tile = sizes.tile(segment.tile, cluster_rank());
      const int warp_now = pgtune::thread_index() / 32, group_now = kPingPong ? 0 : warp_now / 4;
      const int row = tile.row + group_now % WARPGROUPS_M * kRows + warp_now % 4 * 16;
      const int column = tile.column + group_now / WARPGROUPS_M * INSTRUCTION_N;
      const unsigned own_buffers = buffers + warp_now * Output::kBytes;
#pragma unroll
      for (int m = 0; m < kInstructions; ++m) {
        Output::write<kStoresByCopyEngine>(sums[m], to, row + m * 64, column, tile.batch, own_buffers, m);
      }
    }
    if (kStoresByCopyEngine) pgtune::stores_read<0>();
  }
}

#if TURNS
/// An operand that lies along M or N, of elements that wgmma only takes along K, turned: in[k][i] becomes
/// workspace[origin + i][k].
extern "C" __global__ void __launch_bounds__(256)
    transpose_operand(const char* in, char* workspace, int depth, int length, long long ld, long long stride,
                      long long origin, long long ld_workspace, long long stride_workspace) {
  const int batch = static_cast<int>(blockIdx.z);
  in += batch * stride * ELEM_BYTES;
  workspace += (batch * stride_workspace + origin * ld_workspace) * ELEM_BYTES;
#if ELEM_BYTES == 4
  constexpr int kTile = pgtune::kPackTile;
  pgtune::transpose_tile(reinterpret_cast<const float*>(in), reinterpret_cast<float*>(workspace), depth, length, ld,
                         ld_workspace, static_cast<int>(blockIdx.y) * kTile, static_cast<int>(blockIdx.x) * kTile);
#else
  constexpr int kTile = pgtune::kByteTile;
  pgtune::transpose_byte_tile(reinterpret_cast<const unsigned char*>(in), reinterpret_cast<unsigned char*>(workspace),
                              depth, length, ld, ld_workspace, static_cast<int>(blockIdx.y) * kTile,
                              static_cast<int>(blockIdx.x) * kTile);
#endif
}
#endif
