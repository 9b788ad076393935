// SPDX-License-Identifier: MIT
// D = alpha * op(A) * op(B) + beta * C in strict fp32 on CUDA cores, fed by the copy engine (TMA, sm_90 and newer).
//
// A ring of STAGES tiles in shared memory is filled by TMA. One thread asks for the copies; mbarriers say when a tile
// is there and when everybody has read it. The computing threads spend no instruction on copying and need not run in
// step. CTAs stay (one a multiprocessor) and take one piece of work after the other.
//
// A small product has few tiles, and small tiles cost more reads for each FFMA. So SLICES groups of THREADS of a CTA,
// and the CLUSTER CTAs of a cluster, compute the same tile together, each every so many k-blocks. They add their sums
// through (distributed) shared memory, each a part of the tile. A slice has a ring of its own, and a thread that asks.
//
//   barrier     its p-th phase completes when              who waits for it
//   raw[s]      the tile's bytes have arrived              warps that turn it
//   full[s]     and are turned as they should be           each warp of the slice, before it reads stage s
//   empty[s]    each warp of the slice has read them       the asking thread, before it fills stage s again
//   sums        the cluster's CTAs have their p-th sums    computing threads, before they read other CTAs' sums
//   finished    ... and have read the others' sums         the asking threads, before they overwrite them
//
// TMA wants operands whose contiguous direction is not k, in lines at multiples of 16 bytes. What is not so is packed
// into the workspace first, by a kernel of its own that is timed with this one; or, where it only lies along k, turned
// in its stage by the asking warpgroup. Where none is turned, `full` counts the bytes.
#include "device/cluster.cuh"
#include "device/dependent_launch.cuh"
#include "device/mbarrier.cuh"
#include "device/pack.cuh"
#include "device/register_share.cuh"
#include "device/stream_k.cuh"
#include "device/sums.cuh"
#include "device/thread_tile.cuh"
#include "device/tma.cuh"

namespace {

constexpr int kLanesN = 32 / LANES_M;
constexpr int kWarpsN = BN / (TN * kLanesN);
constexpr int kWarps = THREADS / 32;
constexpr bool kTurns = TURNS_A || TURNS_B;
constexpr pgtune::Sharing kSharing = SCHEDULE == LABEL_stream  ? pgtune::Sharing::kStream
                                     : SCHEDULE == LABEL_split ? pgtune::Sharing::kSplit
                                                               : pgtune::Sharing::kNone;
constexpr int kComputing = SLICES * THREADS, kAsking = 128;
constexpr int kTurners = kTurns ? kAsking / 32 / SLICES : 1;  ///< warps that turn a slice's operands
/// Tiles asked for after the one that is turned: more copies under way while it is awaited. All but two stages at most,
/// because a stage is given back when the next one is there.
constexpr int kTurnsBehind = STAGES - 2;

constexpr pgtune::Order kOrder = ORDER == LABEL_rows      ? pgtune::Order::kRows
                                 : ORDER == LABEL_columns ? pgtune::Order::kColumns
                                                          : pgtune::Order::kColumnsUpward;

constexpr int kSlices = SLICES * CLUSTER;  ///< of a tile
constexpr bool kAdds = kSlices > 1;
constexpr int kDepth = BK * kSlices;           ///< steps of k that the slices take at once
constexpr int kPieces = TM * TN / 4;           ///< of four neighbouring sums of a thread
constexpr int kOwnPieces = kPieces / kSlices;  ///< those it finishes

using OperandA = pgtune::Operand<TURNS_A, BM, BK, TM, LANES_M>;
using OperandB = pgtune::Operand<TURNS_B, BN, BK, TN, kLanesN>;
constexpr int kStageFloats = OperandA::kFloats + OperandB::kFloats;
static_assert(!kAdds || STAGES * kStageFloats >= BM * BN, "a slice's sums go where its stages were");

/// Where a tile starts.
struct TilePlace {
  int m, n, batch;
};

struct Sizes {
  int m, n, k, batches;
  __device__ __forceinline__ unsigned tile_rows() const { return (m - 1) / BM + 1; }
  __device__ __forceinline__ unsigned tile_columns() const { return (n - 1) / BN + 1; }
  __device__ __forceinline__ pgtune::TileWork work(int workers) const {
    return {static_cast<int>(tile_rows() * tile_columns()) * batches, (k - 1) / kDepth + 1, workers, kSharing};
  }
  /// As pgtune::banded_tile(), but all in 32 bits: the first copy waits for it, and N is below 2^30.
  __device__ __forceinline__ TilePlace tile(unsigned index) const {
    const unsigned batch = batches == 1 ? 0 : index / (tile_rows() * tile_columns());
    index -= batch * (tile_rows() * tile_columns());
    const unsigned band = tile_rows() <= RASTER ? 0 : index / (RASTER * tile_columns());
    index -= band * RASTER * tile_columns();
    const unsigned left = tile_rows() - band * RASTER, rows = left < RASTER ? left : RASTER, column = index / rows;
    return {static_cast<int>(band * RASTER + index - column * rows) * BM, static_cast<int>(column) * BN,
            static_cast<int>(batch)};
  }
};

using RingPlace = pgtune::RingPlace<STAGES>;

/// What the asking thread tells its slice about a segment it asks for.
struct Announcement {
  TilePlace tile;
  int k_blocks;                   ///< of this segment, for each slice
  bool shares_start, shares_end;  ///< other workers have the k-blocks before, or after
  bool more;                      ///< another segment follows
  int segment;                    ///< its number
};
/// A segment's announcement is read to its end. By then its last stage may be asked for again, STAGES k-blocks, hence
/// segments, later, and one more announced.
constexpr int kAnnouncements = STAGES + 2;

/// This thread's index, asked for anew: what is computed from it after the main loop takes no registers away in there.
__device__ __forceinline__ int thread_index() {
  int index;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(index));
  return index;
}

/// Where in a tile a thread's rows and columns start.
struct ThreadPlace {
  int m, n;
};

__device__ __forceinline__ ThreadPlace thread_place() {
  const int index = thread_index(), lane = index % 32, warp = index % THREADS / 32;
  // Each half of a warp reads at most eight neighbouring pieces of A and of B: a 16-byte read then takes two passes
  // over the banks instead of four.
  int lane_m = lane / 2 % 4, lane_n = lane / 8 * 2 + lane % 2;
  if (LANES_M == 8) lane_m = lane / 8 * 2 + lane % 2, lane_n = lane / 2 % 4;
  if (LANES_M == 2) lane_m = lane / 8 % 2, lane_n = lane / 16 * 8 + lane % 8;
  return {OperandA::first_outer(warp / kWarpsN, lane_m), OperandB::first_outer(warp % kWarpsN, lane_n)};
}

template <int kThreads>
__device__ __forceinline__ void sync_threads(int barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory");
}

/// Workers' sums of tiles that others finish: [CTA][own piece][thread].
__device__ __forceinline__ float4* partial_sums(char* partials, int cta, int thread) {
  return reinterpret_cast<float4*>(partials) + static_cast<long long>(cta) * (kOwnPieces * kComputing) + thread;
}

__device__ __forceinline__ void write_partial(const float4 (&own)[kOwnPieces], float4* to) {
#pragma unroll
  for (int j = 0; j < kOwnPieces; ++j) __stcg(to + j * kComputing, own[j]);
  __threadfence();
}

/// Where a thread's finished sums go.
struct Output {
  const float* c;  ///< of the tile's matrix
  float* d;
  int m_end, n_end;
  long long ld;
  float alpha, beta;
  int m, n;  ///< its first row and column

  __device__ __forceinline__ void write(const float4& sums, int piece) const {
    const int row = m + OperandA::outer_step(piece / (TN / 4));
    const int column = n + OperandB::outer_step(piece % (TN / 4) * 4);
    if (row < m_end) {
      pgtune::write_piece<C_VEC == 4>(sums, c + row * ld, d + row * ld, column, n_end, alpha, beta);
    }
  }
};

/// The number of the j-th piece that this thread finishes.
__device__ __forceinline__ int own_piece(int j, int slice, int rank) {
  return kAdds ? (j * CLUSTER + rank) * SLICES + slice : j;
}

/// Adds the slices' sums. Each slice leaves its sums where its ring was; a thread adds the pieces of its own, first
/// those of this CTA, then those of the cluster, always in the same order. Rings may be filled again when `finished`
/// completes, in all CTAs at once.
__device__ __forceinline__ void add_slices(const float (&acc)[TM][TN], float4 (&own)[kOwnPieces], float* all_stages,
                                           int rank, unsigned sums, unsigned finished, unsigned parity) {
  constexpr int kRing = STAGES * kStageFloats / 4;
  const int index = thread_index(), slice = index / THREADS;
  float4* const ring = reinterpret_cast<float4*>(all_stages) + index % THREADS;
  sync_threads<THREADS>(1 + slice);
#pragma unroll
  for (int s = 0; s < kPieces; ++s) ring[slice * kRing + s * THREADS] = pgtune::piece(acc, s);
  sync_threads<kComputing>(1 + SLICES);
  if constexpr (SLICES > 1) {
#pragma unroll
    for (int j = 0; j < kPieces / SLICES; ++j) {
      const int at = (j * SLICES + slice) * THREADS;
      float4 sum = ring[at];
#pragma unroll
      for (int s = 1; s < SLICES; ++s) pgtune::add(sum, ring[s * kRing + at]);
      if constexpr (CLUSTER == 1) {
        own[j] = sum;
      } else {
        ring[at] = sum;
      }
    }
  }
  if constexpr (CLUSTER > 1) {
    if constexpr (SLICES > 1) sync_threads<kComputing>(1 + SLICES);
    if (threadIdx.x == 0) pgtune::barrier_arrive_everywhere(sums, CLUSTER);
    pgtune::barrier_wait_cluster(sums, parity);
#pragma unroll
    for (int j = 0; j < kOwnPieces; ++j) own[j] = make_float4(0, 0, 0, 0);
#pragma unroll
    for (int other = 0; other < CLUSTER; ++other) {
      const unsigned there = pgtune::shared_address_at(pgtune::shared_address(ring), other);
#pragma unroll
      for (int j = 0; j < kOwnPieces; ++j) {
        pgtune::add(own[j], pgtune::load_at(there + own_piece(j, slice, rank) * THREADS * sizeof(float4)));
      }
    }
  }
  pgtune::async_fence();
  sync_threads<kComputing>(1 + SLICES);
  if (threadIdx.x == 0) pgtune::barrier_arrive_everywhere(finished, CLUSTER);
}

}  // namespace

/// `workspace` holds the packed operands, then partial sums from `partials_at`, then a flag a CTA from `flags_at`, in
/// bytes. `b_origin`: where the packed B starts in its lines, behind A's.
extern "C" __global__ void __launch_bounds__(kComputing + kAsking, 1)
    sgemm_tma(const __grid_constant__ pgtune::TensorMap map_a, const __grid_constant__ pgtune::TensorMap map_b,
              const float* C, float* D, char* workspace, long long partials_at, long long flags_at, int M, int N, int K,
              int b_origin, long long ldc, long long stride_c, int batches, float alpha, float beta) {
  extern __shared__ __align__(1024) float all_stages[];
  __shared__ __align__(8) pgtune::Barrier barriers[SLICES][3][STAGES];
  __shared__ __align__(8) pgtune::Barrier of_cta[2];
  __shared__ Announcement announcements[SLICES][kAnnouncements];

  static_assert(SLICES * STAGES <= 32, "one warp initialises the barriers");
  if (threadIdx.x < SLICES * STAGES) {
    const unsigned first = pgtune::shared_address(&barriers[threadIdx.x / STAGES][0][threadIdx.x % STAGES]);
    pgtune::barrier_init(first, kTurners);
    pgtune::barrier_init(first + 8 * STAGES, kWarps);
    pgtune::barrier_init(first + 16 * STAGES, 1);
    if (threadIdx.x < 2) pgtune::barrier_init(pgtune::shared_address(&of_cta[threadIdx.x]), CLUSTER);
    pgtune::barrier_init_fence();
  } else if (threadIdx.x == kComputing) {
    pgtune::prefetch_map(map_a);
    pgtune::prefetch_map(map_b);
  }
  if constexpr (CLUSTER > 1) {
    pgtune::sync_cluster();
  } else {
    __syncthreads();
  }

  const bool asks = threadIdx.x >= kComputing;
  // From lane 0, so that the compiler knows it to be the same in the whole warp and keeps it out of the registers.
  const int slice = __shfl_sync(0xffffffff, asks ? (threadIdx.x - kComputing) / 32 % SLICES : threadIdx.x / THREADS, 0);
  const int rank = CLUSTER == 1 ? 0 : static_cast<int>(pgtune::cluster_rank());
  const int worker = static_cast<int>(blockIdx.x) / CLUSTER, workers = static_cast<int>(gridDim.x) / CLUSTER;
  const unsigned full = pgtune::shared_address(&barriers[slice][0][0]), empty = full + 8 * STAGES;
  const unsigned finished = pgtune::shared_address(&of_cta[1]);
  float* const stages = all_stages + STAGES * kStageFloats * slice;
  const Sizes sizes{M, N, K, batches};

  if (asks) {
    if (kComputing == 256) pgtune::give_up_registers<kTurns ? 56 : 24>();
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int turner = __shfl_sync(0xffffffff, (threadIdx.x - kComputing) / (32 * SLICES), 0);
    const bool tells = turner == 0 && lane == 0;
    if (!kTurns && !tells) return;
    pgtune::await_earlier_kernels();  // the packed operands
    const unsigned raw = kTurns ? empty + 8 * STAGES : full;
    const pgtune::TileWork work = sizes.work(workers);
    pgtune::Segment segment;
    bool more = work.segment(segment, 0, worker);
    RingPlace to{0, 1}, from{0, 0};
    int entry = 0, unturned = 0;
    for (int i = 0; more; ++i) {
      const TilePlace tile = sizes.tile(segment.tile);
      const int k_first = segment.first * kDepth + (rank * SLICES + slice) * BK, k_last = segment.last * kDepth;
      Announcement& announcement = announcements[slice][entry];
      entry = entry + 1 == kAnnouncements ? 0 : entry + 1;
      if (kAdds && i > 0) pgtune::barrier_wait_cluster(finished, (i - 1) % 2);
      const Announcement told{tile, segment.last - segment.first, segment.first > 0, segment.last < work.blocks, false,
                              i};
      more = work.segment(segment, i + 1, worker);
      if (tells) {
        announcement = told;
        announcement.more = more;
      }
      // Tiles are turned some stages after they were asked for: what is left at the end in rounds that ask for nothing.
      const int k_end = k_last + (kTurns && (kAdds || !more) ? kTurnsBehind * kDepth : 0);
#pragma unroll 1
      for (int k = k_first; k < k_end; k += kDepth) {
        const bool asks_again = !kTurns || k < k_last;
        if (asks_again) {
          pgtune::barrier_wait(empty + 8 * to.stage, to.parity);
          if (tells) {
            const unsigned barrier = raw + 8 * to.stage;
            const unsigned to_a = pgtune::shared_address(stages + kStageFloats * to.stage);
            const unsigned to_b = to_a + 4 * OperandA::kFloats;
            // The stage was last written by turning it.
            if (kTurns) pgtune::async_fence();
            pgtune::barrier_arrive_expect(barrier, 4 * kStageFloats);  // its release also publishes the announcement
            // From K on, zeros arrive: the slices take the same number of k-blocks.
            const int n = b_origin + tile.n;
            pgtune::load_box(to_a, map_a, TURNS_A ? k : tile.m, TURNS_A ? tile.m : k, tile.batch, barrier);
            pgtune::load_box(to_b, map_b, TURNS_B ? k : n, TURNS_B ? n : k, tile.batch, barrier);
          }
          to.advance();
          ++unturned;
        }
        if (kTurns && unturned > (asks_again ? kTurnsBehind : 0)) {
          pgtune::barrier_wait(raw + 8 * from.stage, from.parity);
          float* const stage = stages + kStageFloats * from.stage;
          OperandA::turn(stage, lane, turner, kTurners);
          OperandB::turn(stage + OperandA::kFloats, lane, turner, kTurners);
          __syncwarp();
          if (lane == 0) pgtune::barrier_arrive(full + 8 * from.stage);
          from.advance();
          --unturned;
        }
      }
    }
    return;
  }

  if (kComputing == 256) pgtune::take_registers<kTurns ? 224 : 240>();
  pgtune::Segment any;
  if (!sizes.work(workers).segment(any, 0, worker)) return;

  OperandA a;
  OperandB b;
  {
    const ThreadPlace place = thread_place();
    a.locate(place.m);
    b.locate(place.n);
  }
  const auto stage_a = [&](int s) { return stages + kStageFloats * s; };
  const auto stage_b = [&](int s) { return stages + kStageFloats * s + OperandA::kFloats; };
  RingPlace now{0, 0};
  int entry = 0;
  for (bool first = true;; first = false) {
    if (kAdds || first) {
      pgtune::barrier_wait(full + 8 * now.stage, now.parity);
      a.read(stage_a(now.stage), 0);
      b.read(stage_b(now.stage), 0);
    }
    float acc[TM][TN] = {};
    const bool more = announcements[slice][entry].more;
#pragma unroll 1
    for (int left = announcements[slice][entry].k_blocks; left > 0; --left) {
      RingPlace next = now;
      next.advance();
#pragma unroll
      for (int k = 0; k < BK; ++k) {
        // The next stage's first values are read while this one's last are used, where sums are not added also across
        // tiles. After the very last one old values are read, and never used.
        if (k == BK - 1 && (left > 1 || (!kAdds && more))) pgtune::barrier_wait(full + 8 * next.stage, next.parity);
        a.read(stage_a(k + 1 < BK ? now.stage : next.stage), (k + 1) % BK);
        b.read(stage_b(k + 1 < BK ? now.stage : next.stage), (k + 1) % BK);
        if (k == BK - 1) {
          __syncwarp();
          if (threadIdx.x % 32 == 0) pgtune::barrier_arrive(empty + 8 * now.stage);
        }
        pgtune::multiply<kOrder>(acc, a, b, k);
      }
      now = next;
    }

    const Announcement& here = announcements[slice][entry];
    const unsigned parity = here.segment % 2;
    float4 own[kOwnPieces];
    if constexpr (kAdds) {
      add_slices(acc, own, all_stages, rank, finished - 8, finished, parity);
    } else {
#pragma unroll
      for (int s = 0; s < kPieces; ++s) own[s] = pgtune::piece(acc, s);
    }

    // Parts of tiles that other workers have too are summed in the workers' order, in every run the same.
    unsigned* const flags = reinterpret_cast<unsigned*>(workspace + flags_at) + rank;
    const pgtune::TileWork work = sizes.work(workers);
    const int slice_now = thread_index() / THREADS;
    const ThreadPlace place = thread_place();
    const long long matrix = here.tile.batch * stride_c;
    const Output to{C + matrix, D + matrix, M, N, ldc, alpha, beta, here.tile.m + place.m, here.tile.n + place.n};
    if (kSharing == pgtune::Sharing::kSplit && work.parts() > 1) {
      write_partial(own, partial_sums(workspace + partials_at, worker * CLUSTER + rank, thread_index()));
      sync_threads<kComputing>(1 + SLICES);
      const int parts = work.parts(), first_worker = worker / parts * parts;
      if (threadIdx.x == 0) pgtune::meet_workers(flags + first_worker * CLUSTER, parts);
      sync_threads<kComputing>(1 + SLICES);
      const float4* const from = partial_sums(workspace + partials_at, first_worker * CLUSTER + rank, thread_index());
#pragma unroll 1
      for (int j = worker - first_worker; j < kOwnPieces; j += parts) {
        float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 4
        for (int part = 0; part < parts; ++part)
          pgtune::add(sum, __ldcg(from + (part * CLUSTER * kOwnPieces + j) * kComputing));
        to.write(sum, own_piece(j, slice_now, rank));
      }
    } else if (kSharing == pgtune::Sharing::kStream && here.shares_start) {
      write_partial(own, partial_sums(workspace + partials_at, worker * CLUSTER + rank, thread_index()));
      sync_threads<kComputing>(1 + SLICES);
      if (threadIdx.x == 0) pgtune::raise_flag(flags + worker * CLUSTER);
    } else {
      if (kSharing == pgtune::Sharing::kStream && here.shares_end) {
        pgtune::Segment segment;
        work.segment(segment, here.segment, worker);
        const int end = (segment.tile + 1) * work.blocks;
        int others = 1;
        while (work.cut(worker + others) < end) ++others;
        for (int i = 1 + thread_index(); i < others; i += kComputing)
          pgtune::await_flag(flags + (worker + i) * CLUSTER);
        sync_threads<kComputing>(1 + SLICES);
#pragma unroll 1
        for (int other = worker + 1; other < worker + others; ++other) {
          const float4* const from = partial_sums(workspace + partials_at, other * CLUSTER + rank, thread_index());
#pragma unroll
          for (int j = 0; j < kOwnPieces; ++j) pgtune::add(own[j], __ldcg(from + j * kComputing));
        }
      }
#pragma unroll
      for (int j = 0; j < kOwnPieces; ++j) to.write(own[j], own_piece(j, slice_now, rank));
    }
    if (!more) {
      // Others may still be reading this CTA's sums.
      if (CLUSTER > 1) pgtune::barrier_wait_cluster(finished, parity);
      break;
    }
    entry = entry + 1 == kAnnouncements ? 0 : entry + 1;
  }
}

/// Packs A and B, those of them that need it, into workspace[batch][k][origin + row or column]: transposed where they
/// lie along k, copied where they do not. CTAs before `tiles_a` have A's tiles, the others B's.
extern "C" __global__ void __launch_bounds__(pgtune::kPackThreads)
    pack_operands(const float* A, const float* B, float* workspace, int M, int N, int K, long long lda, long long ldb,
                  long long stride_a, long long stride_b, long long ld_packed, long long stride_packed, int b_origin,
                  int tiles_a, int a_along_k, int b_along_k) {
  pgtune::let_next_kernel_start();
  const bool of_a = static_cast<int>(blockIdx.x) < tiles_a;
  const int tile = static_cast<int>(blockIdx.x) - (of_a ? 0 : tiles_a), along_k = (K - 1) / pgtune::kPackTile + 1;
  const int outer = tile / along_k * pgtune::kPackTile, k = tile % along_k * pgtune::kPackTile;
  const float* const in = of_a ? A + blockIdx.y * stride_a : B + blockIdx.y * stride_b;
  float* const out = workspace + blockIdx.y * stride_packed + (of_a ? 0 : b_origin);
  const int lines = of_a ? M : N;
  const long long ld = of_a ? lda : ldb;
  if (of_a ? a_along_k : b_along_k) {
    pgtune::transpose_tile(in, out, lines, K, ld, ld_packed, outer, k);
  } else {
    pgtune::copy_tile(in, out, K, lines, ld, ld_packed, k, outer);
  }
}
