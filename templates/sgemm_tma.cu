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
#include "device/epilogue/sgemm_output.cuh"
#include "device/mainloop/sgemm_tma_config.cuh"
#include "device/mainloop/sgemm_tma_producer.cuh"
#include "device/ptx/cluster.cuh"
#include "device/ptx/global_flag.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/programmatic_dependent_launch.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/ptx/shared_memory.cuh"
#include "device/ptx/special_registers.cuh"
#if PACKS
#include "device/copy/pack.cuh"
#endif

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

/// Where a tile's finished sums go.
struct Output {
  const float* c;  ///< of the tile's matrix
  float* d;
  int m_end, n_end;
  long long ld;
  float alpha, beta;
  int m, n;  ///< the tile's first row and column

  __device__ __forceinline__ void write(const float4& sums, const ThreadPlace& of, int piece) const {
    const int row = m + of.m + OperandA::outer_step(piece / (TN / 4));
    int column = n + of.n + OperandB::outer_step(piece % (TN / 4) * 4);
    constexpr bool kPassing = STORES == LABEL_passing;
    if constexpr (C_VEC == 4) {
      if (row < m_end) pgtune::write_piece<kPassing>(sums, c + row * ld, d + row * ld, column, n_end, alpha, beta);
    } else {
      float four[4] = {sums.x, sums.y, sums.z, sums.w};
      if constexpr (kAdds) {
        // All tiles are written at one time, and nothing hides that: lanes exchange their neighbours, so that a store
        // touches half as many sectors.
        const int q = of.n / 4 % 4;
        pgtune::exchange<LANES_M == 8 ? 2 : 1, LANES_M == 8 ? 4 : LANES_M == 4 ? 8 : 2>(four, q);
        column -= 3 * q;
      }
      if (row < m_end) {
        pgtune::write_floats<kAdds ? 4 : 1, kPassing>(four, c + row * ld, d + row * ld, column, n_end, alpha, beta);
      }
    }
  }
};

/// Finishes a worker's share of a tile that `parts` workers have summed up: every parts-th of each thread's pieces.
__device__ __forceinline__ void finish_pieces(const SharedSums& shared, const Output& to, const ThreadPlace& place,
                                              int part_here, int first_worker, int parts, int rank) {
  const float4* const from = shared.of(first_worker);
#pragma unroll 1
  for (int j = part_here; j < kOwnPieces; j += parts) {
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 4
    for (int part = 0; part < parts; ++part)
      pgtune::add(sum, __ldcg(from + (part * CLUSTER * kOwnPieces + j) * kComputing));
    to.write(sum, place, SliceSums::own_piece(j, pgtune::thread_index() / THREADS, rank));
  }
}

/// The same where there are many more workers than pieces: each takes a piece of one warp, and its own warps add some
/// of the workers' sums each, so that few reads wait for each other.
__device__ __forceinline__ void finish_by_warps(const SharedSums& shared, const Output& to, float4* scratch,
                                                int part_here, int first_worker, int parts, int rank) {
  constexpr int kAll = kComputing / 32;  ///< warps
  const int index = pgtune::thread_index(), warp = index / 32, lane = index % 32;
#pragma unroll 1
  for (int unit = part_here; unit < kOwnPieces * kAll; unit += parts) {
    const int j = unit / kAll, owner = unit % kAll * 32 + lane;
    const float4* const from = shared.of(first_worker) - index + owner;
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 4
    for (int part = warp; part < parts; part += kAll)
      pgtune::add(sum, __ldcg(from + (part * CLUSTER * kOwnPieces + j) * kComputing));
    scratch[index] = sum;
    pgtune::sync_threads<kComputing>(kEverybody);
    if (warp == 0) {
#pragma unroll
      for (int other = 1; other < kAll; ++other) pgtune::add(sum, scratch[other * 32 + lane]);
      to.write(sum, thread_place(owner), SliceSums::own_piece(j, owner / THREADS, rank));
    }
    pgtune::sync_threads<kComputing>(kEverybody);
  }
}

/// The sums of a segment: its k-blocks, from the ring place `now` on, whose first values `a` and `b` hold. Where
/// `goes_on`, the next segment's first values are read at the end.
__device__ __forceinline__ void compute(float (&acc)[TM][TN], OperandA& a, OperandB& b, const Slice& slice,
                                        RingPlace& now, int blocks, bool goes_on) {
  const auto stage_a = [&](int s) { return slice.stages + kStageFloats * s; };
  const auto stage_b = [&](int s) { return slice.stages + kStageFloats * s + OperandA::kFloats; };
#pragma unroll 1
  for (int left = blocks; left > 0; --left) {
    RingPlace next = now;
    next.advance();
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      // The next stage's first values are read while this one's last are used. After the very last one old values are
      // read, and never used.
      if (k == BK - 1 && (left > 1 || goes_on)) pgtune::barrier_wait(slice.full + 8 * next.stage, next.parity);
      a.read(stage_a(k + 1 < BK ? now.stage : next.stage), (k + 1) % BK);
      b.read(stage_b(k + 1 < BK ? now.stage : next.stage), (k + 1) % BK);
      if (k == BK - 1) {
        __syncwarp();
        if (threadIdx.x % 32 == 0) pgtune::barrier_arrive(slice.empty + 8 * now.stage);
      }
      pgtune::multiply<kOrder>(acc, a.value[k % 2], b.value[k % 2]);
    }
    now = next;
  }
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

  static_assert(sizeof(barriers) + sizeof(of_cta) + sizeof(announcements) <= STATIC_SMEM_BYTES, "as configured");
  static_assert(SLICES * STAGES <= 32, "one warp initialises the barriers");
  if (threadIdx.x < SLICES * STAGES) {
    const unsigned first = pgtune::shared_address(&barriers[threadIdx.x / STAGES][0][threadIdx.x % STAGES]);
    pgtune::barrier_init(first, kFeeders);
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
  const int slice_here =
      __shfl_sync(0xffffffff, asks ? (threadIdx.x - kComputing) / 32 % SLICES : threadIdx.x / THREADS, 0);
  const int rank = CLUSTER == 1 ? 0 : static_cast<int>(pgtune::cluster_rank());
  const int worker = static_cast<int>(blockIdx.x) / CLUSTER, workers = static_cast<int>(gridDim.x) / CLUSTER;
  const unsigned full = pgtune::shared_address(&barriers[slice_here][0][0]), empty = full + 8 * STAGES;
  const unsigned finished = pgtune::shared_address(&of_cta[1]);
  const Slice slice{all_stages + STAGES * kStageFloats * slice_here,
                    announcements[slice_here],
                    full,
                    empty,
                    kTurns ? empty + 8 * STAGES : full,
                    rank * SLICES + slice_here};
  const Sizes sizes{M, N, K, batches};

  if (asks) {
    if (kComputing == 256) pgtune::give_up_registers<kTurns ? 56 : 24>();
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int feeder = __shfl_sync(0xffffffff, (threadIdx.x - kComputing) / (32 * SLICES), 0);
    if (!kTurns && (feeder > 0 || lane > 0)) return;
    pgtune::await_earlier_kernels();  // the packed operands
    feed({map_a, map_b, b_origin}, sizes, slice, finished, worker, workers, lane, feeder);
    return;
  }

  if (kComputing == 256) pgtune::take_registers<kTurns ? 224 : 240>();
  pgtune::Segment any;
  if (!sizes.work(workers).segment(any, 0, worker)) return;

  OperandA a;
  OperandB b;
  {
    const ThreadPlace place = thread_place(pgtune::thread_index());
    a.locate(place.m);
    b.locate(place.n);
  }
  RingPlace now{0, 0};
  int entry = 0;
  for (bool first = true;; first = false) {
    if (kAdds || first) {
      pgtune::barrier_wait(slice.full + 8 * now.stage, now.parity);
      a.read(slice.stages + kStageFloats * now.stage, 0);
      b.read(slice.stages + kStageFloats * now.stage + OperandA::kFloats, 0);
    }
    float acc[TM][TN] = {};
    const bool more = slice.announcements[entry].more;
    compute(acc, a, b, slice, now, slice.announcements[entry].k_blocks, !kAdds && more);

    const Announcement& here = slice.announcements[entry];
    const unsigned parity = here.segment % 2;
    float4 own[kOwnPieces];
    if constexpr (kAdds) {
      SliceSums::add(acc, own, all_stages, rank, finished - 8, finished, parity);
    } else {
#pragma unroll
      for (int s = 0; s < kOwnPieces; ++s) own[s] = pgtune::piece(acc, s);
    }

    // Parts of tiles that other workers have too are summed in the workers' order, in every run the same.
    float* const all_own = reinterpret_cast<float*>(own);
    const SharedSums shared{
        reinterpret_cast<float4*>(workspace + partials_at) + static_cast<long long>(rank) * SharedSums::kGroupFours,
        reinterpret_cast<unsigned*>(workspace + flags_at) + rank, CLUSTER, kEverybody};
    const pgtune::TileWork work = sizes.work(workers);
    const int slice_now = pgtune::thread_index() / THREADS;
    const long long matrix = here.tile.batch * stride_c;
    const Output to{C + matrix, D + matrix, M, N, ldc, alpha, beta, here.tile.row, here.tile.column};
    const ThreadPlace place = thread_place(pgtune::thread_index());
    if (kSharing == pgtune::Sharing::kSplit && work.parts() > 1) {
      shared.write(all_own, worker);
      const int parts = work.parts(), first_worker = worker / parts * parts;
      if (threadIdx.x == 0) pgtune::meet_workers(shared.flags + first_worker * CLUSTER, parts);
      pgtune::sync_threads<kComputing>(kEverybody);
      if (parts > 4 * kOwnPieces) {
        if (CLUSTER > 1) pgtune::barrier_wait_cluster(finished, parity);  // the stages are free
        finish_by_warps(shared, to, reinterpret_cast<float4*>(all_stages), worker - first_worker, first_worker, parts,
                        rank);
      } else {
        finish_pieces(shared, to, place, worker - first_worker, first_worker, parts, rank);
      }
    } else if (kSharing == pgtune::Sharing::kStream && here.shares_start) {
      shared.give(all_own, worker);
    } else {
      if (kSharing == pgtune::Sharing::kStream && here.shares_end) {
        pgtune::Segment segment;
        work.segment(segment, here.segment, worker);
        shared.collect(all_own, work, segment, worker);
      }
#pragma unroll
      for (int j = 0; j < kOwnPieces; ++j) to.write(own[j], place, SliceSums::own_piece(j, slice_now, rank));
    }
    if (!more) {
      // Others may still be reading this CTA's sums.
      if (CLUSTER > 1) pgtune::barrier_wait_cluster(finished, parity);
      break;
    }
    entry = entry + 1 == kAnnouncements ? 0 : entry + 1;
  }
}

#if PACKS
/// Packs A and B, those of them that need it, into workspace[batch][k][origin + row or column]: transposed where they
/// lie along k, copied where they do not. CTAs before `tiles_a` have A's tiles, the others B's.
extern "C" __global__ void __launch_bounds__(pgtune::kPackThreads)
    pack_operands(const float* A, const float* B, float* workspace, int M, int N, int K, long long lda, long long ldb,
                  long long stride_a, long long stride_b, long long ld_packed, long long stride_packed, int b_origin,
                  int tiles_a, int a_along_k, int b_along_k) {
  extern __shared__ __align__(
      1024) float all_stages[];  // as above: dynamic, so that neither kernel's counts as the other's
  pgtune::let_next_kernel_start();
  const bool of_a = static_cast<int>(blockIdx.x) < tiles_a;
  const int tile = static_cast<int>(blockIdx.x) - (of_a ? 0 : tiles_a), along_k = (K - 1) / pgtune::kPackTile + 1;
  const int outer = tile / along_k * pgtune::kPackTile, k = tile % along_k * pgtune::kPackTile;
  const float* const in = of_a ? A + blockIdx.y * stride_a : B + blockIdx.y * stride_b;
  float* const out = workspace + blockIdx.y * stride_packed + (of_a ? 0 : b_origin);
  const int lines = of_a ? M : N;
  const long long ld = of_a ? lda : ldb;
  if (of_a ? a_along_k : b_along_k) {
    pgtune::transpose_tile(reinterpret_cast<pgtune::PackLine*>(all_stages), in, out, lines, K, ld, ld_packed, outer, k);
  } else {
    pgtune::copy_tile(in, out, K, lines, ld, ld_packed, k, outer);
  }
}
#endif
