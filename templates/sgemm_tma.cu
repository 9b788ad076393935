// SPDX-License-Identifier: MIT
// D = alpha * op(A) * op(B) + beta * C in strict fp32 on CUDA cores, fed by the copy engine (TMA, sm_90 and newer).
//
// A ring of STAGES tiles in shared memory is filled by TMA. One thread asks for the copies; mbarriers say when a tile
// is there and when everybody has read it. The computing threads spend no instruction on copying and need not run in
// step. A CTA has GROUPS groups of THREADS that compute tiles of their own, each with its own ring, and a warpgroup
// that asks: its w-th warp serves group w. CTAs stay (one a multiprocessor) and take one piece of work after the other.
//
//   barrier   its p-th phase completes when         who waits for it
//   full[s]   the tile's bytes have arrived         each warp of the group, before it reads stage s the p-th time
//   empty[s]  each warp of the group has read it    the asking thread, before it fills stage s the (p+1)-th time
//
// An operand whose contiguous direction is k ("along k") is either read from shared memory four steps of k at a time,
// or transposed into the workspace first, by a kernel of its own that is timed with this one.
#include "device/mbarrier.cuh"
#include "device/stream_k.cuh"
#include "device/tile_raster.cuh"
#include "device/tma.cuh"
#include "device/transpose.cuh"

namespace {

constexpr int kLanesN = 32 / LANES_M;
constexpr int kWarpsN = BN / (TN * kLanesN);
constexpr int kWarps = THREADS / 32;
constexpr bool kAAlongK = A_ALONG_K, kBAlongK = B_ALONG_K;
constexpr bool kShares = SCHEDULE == LABEL_stream;
constexpr int kAskingThreads = 128;

/// One operand's tile in shared memory, and a thread's part of it in registers. Along k, a line is BK floats of one row
/// (or column) of D, swizzled by TMA, and the thread reads four steps of k at once; otherwise a line is one step of k.
template <bool kAlongK, int kExtent, int kThreadExtent, int kLanes>
struct Operand {
  static constexpr int kFloats = kExtent * BK;  ///< of a stage
  static constexpr int kAtOnce = kAlongK ? 4 : 1;
  static_assert(!kAlongK || BK == 16 || BK == 32, "lines along k are 64 or 128 bytes long");

  float value[2][kThreadExtent][kAtOnce];  ///< one half is used while the other is read
  int first;                               ///< where this thread's first line or piece starts in a stage, in floats

  /// A thread's i-th row (or column), relative to its first. Neighbouring lanes have neighbouring lines, or pieces of
  /// four floats.
  static constexpr __device__ int outer_step(int i) { return kAlongK ? i * kLanes : i / 4 * (4 * kLanes) + i % 4; }
  static __device__ __forceinline__ int first_outer(int warp, int lane) {
    return warp * (kLanes * kThreadExtent) + lane * (kAlongK ? 1 : 4);
  }
  /// TMA's 64- or 128-byte swizzle, in floats: the pieces of four of line `outer` are exchanged by XOR with this.
  static constexpr __device__ int swizzle(int outer) { return (BK == 32 ? outer % 8 : outer / 2 % 4) * 4; }

  __device__ __forceinline__ void locate(int outer) { first = kAlongK ? outer * BK + swizzle(outer) : outer; }

  /// Reads a part of what step `k` of the stage needs: all of it, or along k a quarter of the four steps that begin at
  /// or before k, so that four consecutive calls read them all.
  __device__ __forceinline__ void read(const float* stage, int k) {
    if constexpr (kAlongK) {
#pragma unroll
      for (int i = k % 4 * (kThreadExtent / 4); i < (k % 4 + 1) * (kThreadExtent / 4); ++i) {
        const int piece = first ^ (k / 4 * 4) ^ swizzle(outer_step(i));
        store(value[k / 4 % 2][i], *reinterpret_cast<const float4*>(stage + piece + outer_step(i) * BK));
      }
    } else {
#pragma unroll
      for (int i = 0; i < kThreadExtent; i += 4) {
        const float4 four = *reinterpret_cast<const float4*>(stage + first + k * kExtent + outer_step(i));
        value[k % 2][i][0] = four.x, value[k % 2][i + 1][0] = four.y;
        value[k % 2][i + 2][0] = four.z, value[k % 2][i + 3][0] = four.w;
      }
    }
  }
  __device__ __forceinline__ float at(int i, int k) const { return value[k / kAtOnce % 2][i][k % kAtOnce]; }

 private:
  static __device__ __forceinline__ void store(float (&to)[4], const float4& four) {
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
  }
};

using OperandA = Operand<kAAlongK, BM, TM, LANES_M>;
using OperandB = Operand<kBAlongK, BN, TN, kLanesN>;
constexpr int kStageFloats = OperandA::kFloats + OperandB::kFloats;
/// The stage after this one must be there so many steps before this one ends.
constexpr int kAhead = kAAlongK || kBAlongK ? 4 : 1;

/// acc += a * b for one step of k, in a serpentine: neighbouring FFMAs share an operand, which the register file then
/// need not deliver twice.
__device__ __forceinline__ void multiply(float (&acc)[TM][TN], const OperandA& a, const OperandB& b, int k) {
  constexpr bool kColumns = ORDER == LABEL_columns;
#pragma unroll
  for (int s = 0; s < TM * TN; ++s) {
    const int outer = kColumns ? s / TM : s / TN, inner = kColumns ? s % TM : s % TN;
    const int turned = outer % 2 == 0 ? inner : (kColumns ? TM : TN) - 1 - inner;
    const int i = kColumns ? turned : outer, j = kColumns ? outer : turned;
    acc[i][j] = fmaf(a.at(i, k), b.at(j, k), acc[i][j]);
  }
}

/// What the asking thread tells its group about a segment it asks for.
struct Announcement {
  int m, n, batch;                ///< where the tile starts
  int k_blocks;                   ///< of this segment
  bool shares_start, shares_end;  ///< other workers have the k-blocks before, or after
  bool more;                      ///< another segment follows
  int segment;                    ///< its number
};
/// The asking thread is at most STAGES k-blocks, hence segments, ahead: this many are never overwritten too early.
constexpr int kAnnouncements = STAGES + 1;

/// Where in a tile a thread's rows and columns start. Asks for the thread's index anew: kept from before the main loop,
/// the answer would take registers away there.
struct ThreadPlace {
  int m, n;
};

__device__ __forceinline__ ThreadPlace thread_place() {
  int index;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(index));
  const int lane = index % 32, warp = index % THREADS / 32;
  // Each half of a warp reads four neighbouring pieces of A and four of B: a 16-byte read then takes two passes over
  // the banks instead of four.
  const int of_eight = lane / 8 * 2 + lane % 2, of_four = lane / 2 % 4;
  return {OperandA::first_outer(warp / kWarpsN, LANES_M == 8 ? of_eight : of_four),
          OperandB::first_outer(warp % kWarpsN, LANES_M == 8 ? of_four : of_eight)};
}

__device__ __forceinline__ void sync_group(int group) {
  asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "n"(THREADS) : "memory");
}

struct Sizes {
  int m, n, k, batches;
  __device__ __forceinline__ unsigned tile_rows() const { return (m - 1) / BM + 1; }
  __device__ __forceinline__ unsigned tile_columns() const { return (n - 1) / BN + 1; }
  __device__ __forceinline__ pgtune::TileWork work(int workers) const {
    return {static_cast<int>(tile_rows() * tile_columns()) * batches, (k - 1) / BK + 1, workers, kShares};
  }
};

/// Workers' sums of tiles that others finish: [worker][four accumulators][thread].
__device__ __forceinline__ float4* partial_sums(float* partials, int worker, int thread) {
  return reinterpret_cast<float4*>(partials) + static_cast<long long>(worker) * (TM * TN / 4 * THREADS) + thread;
}

__device__ __forceinline__ void write_partial(const float (&acc)[TM][TN], float4* to) {
#pragma unroll
  for (int s = 0; s < TM * TN / 4; ++s) {
    const float* four = &acc[s / (TN / 4)][s % (TN / 4) * 4];
    __stcg(to + s * THREADS, make_float4(four[0], four[1], four[2], four[3]));
  }
}

__device__ __forceinline__ void add_partial(float (&acc)[TM][TN], const float4* from) {
#pragma unroll
  for (int s = 0; s < TM * TN / 4; ++s) {
    float* four = &acc[s / (TN / 4)][s % (TN / 4) * 4];
    const float4 part = __ldcg(from + s * THREADS);
    four[0] += part.x, four[1] += part.y, four[2] += part.z, four[3] += part.w;
  }
}

/// Writes alpha * acc + beta * C; C is read only where beta is not zero.
__device__ __forceinline__ void write_result(const float (&acc)[TM][TN], const float* C, float* D, long long ldc, int M,
                                             int N, int m_first, int n_first, float alpha, float beta) {
  constexpr int kWide = kBAlongK ? 1 : C_VEC;  // along k, a thread's columns are not neighbours
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int m = m_first + OperandA::outer_step(i);
    if (m >= M) continue;
    const float* c_row = C + m * ldc;
    float* d_row = D + m * ldc;
#pragma unroll
    for (int j = 0; j < TN; j += kWide) {
      const int n = n_first + OperandB::outer_step(j);
      if (n >= N) continue;
      if constexpr (kWide == 4) {
        float4 out =
            make_float4(alpha * acc[i][j], alpha * acc[i][j + 1], alpha * acc[i][j + 2], alpha * acc[i][j + 3]);
        if (beta != 0.0f) {
          const float4 c = *reinterpret_cast<const float4*>(c_row + n);
          out.x = fmaf(beta, c.x, out.x), out.y = fmaf(beta, c.y, out.y);
          out.z = fmaf(beta, c.z, out.z), out.w = fmaf(beta, c.w, out.w);
        }
        *reinterpret_cast<float4*>(d_row + n) = out;
      } else {
        d_row[n] = beta == 0.0f ? alpha * acc[i][j] : fmaf(beta, c_row[n], alpha * acc[i][j]);
      }
    }
  }
}

}  // namespace

/// `workspace` holds the transposed operands, then partial sums from `partials_at`, then a flag a worker from
/// `flags_at`, in bytes. `b_origin`: where the transposed B starts in its lines, behind A's.
extern "C" __global__ void __launch_bounds__(GROUPS* THREADS + kAskingThreads, 1)
    sgemm_tma(const __grid_constant__ pgtune::TensorMap map_a, const __grid_constant__ pgtune::TensorMap map_b,
              const float* C, float* D, char* workspace, long long partials_at, long long flags_at, int M, int N, int K,
              int b_origin, long long ldc, long long stride_c, int batches, float alpha, float beta) {
  extern __shared__ __align__(1024) float all_stages[];
  __shared__ __align__(8) pgtune::Barrier barriers[GROUPS][2][STAGES];
  __shared__ Announcement announcements[GROUPS][kAnnouncements];

  if (threadIdx.x == 0) {
    for (int group = 0; group < GROUPS; ++group) {
      for (int s = 0; s < STAGES; ++s) {
        pgtune::barrier_init(pgtune::shared_address(&barriers[group][0][s]), 1);
        pgtune::barrier_init(pgtune::shared_address(&barriers[group][1][s]), kWarps);
      }
    }
    pgtune::barrier_init_fence();
  }
  __syncthreads();

  const bool asks = threadIdx.x >= GROUPS * THREADS;
  // From lane 0, so that the compiler knows it to be the same in the whole warp and keeps it out of the registers.
  const int group = __shfl_sync(0xffffffff, asks ? (threadIdx.x - GROUPS * THREADS) / 32 : threadIdx.x / THREADS, 0);
  const int worker = static_cast<int>(blockIdx.x) * GROUPS + group, workers = static_cast<int>(gridDim.x) * GROUPS;
  const unsigned full = pgtune::shared_address(&barriers[group % GROUPS][0][0]), empty = full + 8 * STAGES;
  float* const stages = all_stages + STAGES * kStageFloats * (group % GROUPS);
  const Sizes sizes{M, N, K, batches};

  if (asks) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x % 32 != 0 || group >= GROUPS) return;
    pgtune::prefetch_map(map_a);
    pgtune::prefetch_map(map_b);
    const unsigned stages_address = pgtune::shared_address(stages);
    const pgtune::TileWork work = sizes.work(workers);
    const int tiles_of_matrix = static_cast<int>(sizes.tile_rows() * sizes.tile_columns());
    pgtune::Segment segment;
    bool more = work.segment(segment, 0, worker);
    int stage = 0, entry = 0;
    unsigned parity = 1;
    for (int i = 0; more; ++i) {
      const int batch = segment.tile / tiles_of_matrix;
      const pgtune::TileIndex tile =
          pgtune::banded_tile<RASTER>(segment.tile - batch * tiles_of_matrix, sizes.tile_rows(), sizes.tile_columns());
      const int m = static_cast<int>(tile.row) * BM, n = static_cast<int>(tile.column) * BN;
      const int k_first = segment.first * BK, k_last = segment.last * BK;
      Announcement& announcement = announcements[group][entry];
      entry = entry + 1 == kAnnouncements ? 0 : entry + 1;
      announcement = {m,     n, batch, segment.last - segment.first, segment.first > 0, segment.last < work.blocks,
                      false, i};
      more = work.segment(segment, i + 1, worker);
      announcement.more = more;
#pragma unroll 1
      for (int k = k_first; k < k_last; k += BK) {
        pgtune::barrier_wait(empty + 8 * stage, parity);
        const unsigned barrier = full + 8 * stage;
        const unsigned to_a = stages_address + 4 * kStageFloats * stage, to_b = to_a + 4 * OperandA::kFloats;
        pgtune::barrier_arrive_expect(barrier, 4 * kStageFloats);  // its release also publishes the announcement
        pgtune::load_box(to_a, map_a, kAAlongK ? k : m, kAAlongK ? m : k, batch, barrier);
        pgtune::load_box(to_b, map_b, kBAlongK ? k : b_origin + n, kBAlongK ? n : k, batch, barrier);
        if (++stage == STAGES) stage = 0, parity ^= 1;
      }
    }
    return;
  }

  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
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
  int stage = 0, entry = 0;
  unsigned parity = 0;
  pgtune::barrier_wait(full, 0);
#pragma unroll
  for (int k = 0; k < OperandA::kAtOnce; ++k) a.read(stage_a(0), k);
#pragma unroll
  for (int k = 0; k < OperandB::kAtOnce; ++k) b.read(stage_b(0), k);

  while (true) {
    float acc[TM][TN] = {};
    const bool more = announcements[group][entry].more;
#pragma unroll 1
    for (int left = announcements[group][entry].k_blocks; left > 0; --left) {
      const int next_stage = stage + 1 == STAGES ? 0 : stage + 1;
      const unsigned next_parity = stage + 1 == STAGES ? parity ^ 1 : parity;
#pragma unroll
      for (int k = 0; k < BK; ++k) {
        // The next stage's first values are read while this one's last are used, also across tiles. After the very
        // last one old values are read, and never used.
        if (k == BK - kAhead && (more || left > 1)) pgtune::barrier_wait(full + 8 * next_stage, next_parity);
        const int k_a = k + OperandA::kAtOnce, k_b = k + OperandB::kAtOnce;
        a.read(stage_a(k_a < BK ? stage : next_stage), k_a % BK);
        b.read(stage_b(k_b < BK ? stage : next_stage), k_b % BK);
        if (k == BK - 1) {
          __syncwarp();
          if (threadIdx.x % 32 == 0) pgtune::barrier_arrive(empty + 8 * stage);
        }
        multiply(acc, a, b, k);
      }
      stage = next_stage;
      parity = next_parity;
    }

    const Announcement& here = announcements[group][entry];
    const int thread = static_cast<int>(threadIdx.x) % THREADS;
    float* const partials = reinterpret_cast<float*>(workspace + partials_at);
    unsigned* const flags = reinterpret_cast<unsigned*>(workspace + flags_at);
    if (kShares && here.shares_start) {
      write_partial(acc, partial_sums(partials, worker, thread));
      __threadfence();
      sync_group(group);
      if (thread == 0) pgtune::raise_flag(flags + worker);
    } else {
      if (kShares && here.shares_end) {
        // The next workers have the rest of this tile; their sums are added in their order, in every run the same.
        const pgtune::TileWork work = sizes.work(workers);
        pgtune::Segment segment;
        work.segment(segment, here.segment, worker);
        const int end = (segment.tile + 1) * work.blocks;
        for (int other = worker + 1; work.cut(other) < end; ++other) {
          if (thread == 0) pgtune::await_flag(flags + other);
          sync_group(group);
          add_partial(acc, partial_sums(partials, other, thread));
        }
      }
      const ThreadPlace place = thread_place();
      const long long start = here.batch * stride_c;
      write_result(acc, C + start, D + start, ldc, M, N, here.m + place.m, here.n + place.n, alpha, beta);
    }
    if (!more) break;
    entry = entry + 1 == kAnnouncements ? 0 : entry + 1;
  }
}

/// Lines of `length` floats along k become columns: workspace[k][origin + line].
extern "C" __global__ void __launch_bounds__(pgtune::kTransposeThreads)
    transpose_operand(const float* in, float* workspace, int lines, int length, long long ld, long long stride,
                      long long origin, long long ld_workspace, long long stride_workspace) {
  pgtune::transpose_tile(in + blockIdx.z * stride, workspace + blockIdx.z * stride_workspace + origin, lines, length,
                         ld, ld_workspace, static_cast<int>(blockIdx.y) * pgtune::kTransposeTile,
                         static_cast<int>(blockIdx.x) * pgtune::kTransposeTile);
}
