// SPDX-License-Identifier: MIT
// D = alpha * op(A) * op(B) + beta * C in strict fp32 on CUDA cores, fed by TMA (sm_90 and newer).
//
// The kernel is warp-specialized and persistent. A producer thread has TMA fill a pipeline of STAGES stages in shared
// memory; mbarriers say when a stage has arrived and when everybody has read it. The consumers spend no instruction on
// copying and need not run in step. One CTA runs on each multiprocessor and takes one segment of work after the other.
//
// A small product has few tiles, and small tiles cost more loads for each FFMA. So SLICED_K groups of THREADS of a CTA,
// and the CLUSTER_K CTAs of a cluster, compute the same tile together, each some of its k-blocks. They reduce their
// accumulators through (distributed) shared memory, each a part of the tile. A slice has stages and a producer thread
// of its own.
//
//   barrier    its p-th phase completes when                 who waits for it
//   raw[s]     the stage's bytes have arrived                producer warps that transpose it
//   full[s]    the stage is ready, transposed if need be     each consumer warp of the slice, before it reads stage s
//   empty[s]   each warp of the slice has read the stage     the producer, before it fills stage s again
//   partials   the CTAs of the cluster have stored their     consumers, before they read other CTAs' accumulators
//              p-th accumulators
//   finished   and have read the others' accumulators        the producers, before they overwrite them
//
// TMA wants operands whose contiguous direction is not k, in lines at multiples of 16 bytes. A kernel of its own, which
// is timed with this one, packs other operands into the workspace first. Instead, lines that start elsewhere may be
// copied by cp.async of the producer warpgroup's threads, and an operand that lies along k may be transposed in its
// stage by its warps. Where none is transposed, `full` counts what has arrived.
#include "device/epilogue/sgemm_tma_output.cuh"
#include "device/mainloop/sgemm_tma_config.cuh"
#include "device/mainloop/sgemm_tma_consumer.cuh"
#include "device/mainloop/sgemm_tma_producer.cuh"
#include "device/ptx/cluster.cuh"
#include "device/ptx/global_flag.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/programmatic_dependent_launch.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/ptx/shared_memory.cuh"
#include "device/ptx/special_registers.cuh"
#ifndef PGTUNE_SEPARATE_MODULES
#if PACKS
#include "device/copy/pack_operands.cuh"
#endif
#if DECOMPOSITION != LABEL_data_parallel
#include "device/scheduler/clear_flags.cuh"
#endif
#endif

/// `workspace` holds the packed operands, then partial accumulators from `partials_at`, then a flag for each CTA from
/// `flags_at`, in bytes. `b_origin` is where the packed B starts in its lines, behind A's. Of A and B themselves, those
/// are read that cp.async copies.
extern "C" __global__ void __launch_bounds__(kConsumerThreads + kProducerThreads, 1)
    sgemm_tma(const __grid_constant__ pgtune::TensorMap map_a, const __grid_constant__ pgtune::TensorMap map_b,
              const float* A, const float* B, const float* C, float* D, char* workspace, long long partials_at,
              long long flags_at, int M, int N, int K, int b_origin, long long lda, long long ldb, long long ldc,
              long long stride_a, long long stride_b, long long stride_c, int batches, float alpha, float beta) {
  extern __shared__ __align__(1024) float all_stages[];
  __shared__ __align__(8) pgtune::Mbarrier barriers[SLICED_K][3][STAGES];
  __shared__ __align__(8) pgtune::Mbarrier of_cta[2];
  __shared__ WorkTileInfo work_tiles[SLICED_K][kWorkTileInfos];

  static_assert(sizeof(barriers) + sizeof(of_cta) + sizeof(work_tiles) <= STATIC_SMEM_BYTES, "as configured");
  static_assert(SLICED_K * STAGES <= 32, "one warp initialises the barriers");
  if (threadIdx.x < SLICED_K * STAGES) {
    const unsigned first = pgtune::shared_address(&barriers[threadIdx.x / STAGES][0][threadIdx.x % STAGES]);
    pgtune::mbarrier_init(first, kTransposes ? kProducerWarps : kLoaders);
    pgtune::mbarrier_init(first + 8 * STAGES, kWarps);
    pgtune::mbarrier_init(first + 16 * STAGES, kLoaders);
    if (threadIdx.x < 2) pgtune::mbarrier_init(pgtune::shared_address(&of_cta[threadIdx.x]), CLUSTER_K);
    pgtune::mbarrier_init_fence();
  } else if (threadIdx.x == kConsumerThreads) {
    pgtune::prefetch_tensor_map(map_a);
    pgtune::prefetch_tensor_map(map_b);
  }
  if constexpr (CLUSTER_K > 1) {
    pgtune::cluster_sync();
  } else {
    __syncthreads();
  }

  const bool is_producer = threadIdx.x >= kConsumerThreads;
  // The slice comes from lane 0, so that the compiler knows it to be the same in the whole warp and keeps it out of the
  // registers.
  const int slice_here = __shfl_sync(
      0xffffffff, is_producer ? (threadIdx.x - kConsumerThreads) / 32 % SLICED_K : threadIdx.x / THREADS, 0);
  const int rank = CLUSTER_K == 1 ? 0 : static_cast<int>(pgtune::cluster_rank());
  const int worker = static_cast<int>(blockIdx.x) / CLUSTER_K, workers = static_cast<int>(gridDim.x) / CLUSTER_K;
  const unsigned full = pgtune::shared_address(&barriers[slice_here][0][0]), empty = full + 8 * STAGES;
  const unsigned finished = pgtune::shared_address(&of_cta[1]);
  const Slice slice{all_stages + STAGES * kStageFloats * slice_here, work_tiles[slice_here],      full, empty,
                    kTransposes ? empty + 8 * STAGES : full,         rank * SLICED_K + slice_here};
  const Sizes sizes{M, N, K, batches};

  if (is_producer) {
    if (kConsumerThreads == 256) pgtune::register_dealloc<kProducerRegisters>();
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int producer_warp = __shfl_sync(0xffffffff, (threadIdx.x - kConsumerThreads) / (32 * SLICED_K), 0);
    if (!kWarpsProduce && (producer_warp > 0 || lane > 0)) return;
    pgtune::griddepcontrol_wait();  // the packed operands and the flags, which consumers touch after what this loads
    produce({map_a, map_b, b_origin, {A, lda, stride_a}, {B, ldb, stride_b}}, sizes, slice, finished, worker, workers,
            lane, producer_warp);
    return;
  }

  if (kConsumerThreads == 256) pgtune::register_alloc<kConsumerRegisters>();
  pgtune::Segment any;
  if (!sizes.work(workers).segment(any, 0, worker)) return;

  OperandA a;
  OperandB b;
  {
    const ThreadPlace place = thread_place(pgtune::thread_index());
    a.locate(place.m);
    b.locate(place.n);
  }
  PipelineState now{0, 0};
  int entry = 0;
  for (bool first = true;; first = false) {
    if (kReduces || first) {
      pgtune::mbarrier_wait(slice.full + 8 * now.stage, now.parity);
      a.read(slice.stages + kStageFloats * now.stage, 0);
      b.read(slice.stages + kStageFloats * now.stage + OperandA::kFloats, 0);
    }
    float acc[TM][TN] = {};
    const bool more = slice.work_tiles[entry].more;
    compute(acc, a, b, slice, now, slice.work_tiles[entry].k_blocks, !kReduces && more);

    const WorkTileInfo& here = slice.work_tiles[entry];
    const unsigned parity = here.segment % 2;
    float4 own[kOwnPieces];
    if constexpr (kReduces) {
      SlicedKReduction::add(acc, own, all_stages, rank, finished - 8, finished, parity);
    } else {
#pragma unroll
      for (int s = 0; s < kOwnPieces; ++s) own[s] = pgtune::piece(acc, s);
    }

    // The accumulators of tiles that other workers share are added in the workers' order, in every run the same.
    float* const all_own = reinterpret_cast<float*>(own);
    const StreamKReduction shared{reinterpret_cast<float4*>(workspace + partials_at) +
                                      static_cast<long long>(rank) * StreamKReduction::kGroupFours,
                                  reinterpret_cast<unsigned*>(workspace + flags_at) + rank, CLUSTER_K, kAllConsumers};
    const pgtune::TileWork work = sizes.work(workers);
    const int slice_now = pgtune::thread_index() / THREADS;
    const long long matrix = here.tile.batch * stride_c;
    const Output to{C + matrix, D + matrix, M, N, ldc, alpha, beta, here.tile.row, here.tile.column};
    const ThreadPlace place = thread_place(pgtune::thread_index());
    if (kDecomposition == pgtune::Decomposition::kSplitK && work.parts() > 1) {
      shared.write(all_own, worker);
      const int parts = work.parts(), first_worker = worker / parts * parts;
      if (threadIdx.x == 0) {
        unsigned* const count = shared.flags + first_worker * CLUSTER_K;
        pgtune::wait_for_others(count, parts, pgtune::arrive(count, parts));
      }
      pgtune::named_barrier_sync<kConsumerThreads>(kAllConsumers);
      if (parts > 4 * kOwnPieces) {
        if (CLUSTER_K > 1) pgtune::mbarrier_wait_cluster(finished, parity);  // the stages are free
        finish_by_warps(shared, to, reinterpret_cast<float4*>(all_stages), worker - first_worker, first_worker, parts,
                        rank);
      } else {
        finish_pieces(shared, to, place, worker - first_worker, first_worker, parts, rank);
      }
    } else if (kDecomposition == pgtune::Decomposition::kStreamK && here.shares_start) {
      shared.store_partial(all_own, worker);
    } else {
      if (kDecomposition == pgtune::Decomposition::kStreamK && here.shares_end) {
        pgtune::Segment segment;
        work.segment(segment, here.segment, worker);
        shared.add_partials(all_own, work, segment, worker);
      }
#pragma unroll
      for (int j = 0; j < kOwnPieces; ++j) to.write(own[j], place, SlicedKReduction::own_piece(j, slice_now, rank));
    }
    if (!more) {
      // Other CTAs may still be reading this CTA's accumulators.
      if (CLUSTER_K > 1) pgtune::mbarrier_wait_cluster(finished, parity);
      break;
    }
    entry = entry + 1 == kWorkTileInfos ? 0 : entry + 1;
  }
}
