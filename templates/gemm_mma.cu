// SPDX-License-Identifier: MIT
// D = activation(alpha * op(A) * op(B) + beta * C + bias) on tensor cores by mma.sync, fed by cp.async. It runs on any
// GPU from sm_80 on, with any layout and any alignment.
//
// A CTA computes a BM x BN tile of D, each warp a WM x WN part of it. All threads fill a pipeline of STAGES stages in
// shared memory ahead while they multiply. One barrier a k-block says both that the next stage has arrived and that the
// last one may be overwritten. With FRAGMENT_STAGES 2 a warp loads the fragments of the next 32 bytes of k while the
// tensor cores multiply these.
//
// DECOMPOSITION splits tiles along K among CTAs; accumulators are added in a fixed order. With split-K the first
// K_SLICES of a tile's CTAs finish a slice of it each, with stream-K one finishes all of it. With PACK, operands whose
// rows are not aligned to 16 bytes are first copied to rows that are: in a large product that takes less time than
// narrow copies.
#include "device/epilogue/mma_output.cuh"
#include "device/epilogue/split_k_reduction.cuh"
#include "device/epilogue/stream_k_reduction.cuh"
#include "device/mainloop/mma_consumer.cuh"
#include "device/mainloop/mma_producer.cuh"
#include "device/ptx/shared_memory.cuh"
#include "device/ptx/special_registers.cuh"
#include "device/scheduler/rasterization.cuh"
#ifndef PGTUNE_SEPARATE_MODULES
#if DECOMPOSITION != LABEL_data_parallel
#include "device/scheduler/clear_flags.cuh"
#endif
#if PACK_A || PACK_B
#include "device/copy/mma_pack.cuh"
#endif
#endif

namespace {

using namespace pgtune::product;

constexpr auto kDecomposition = DECOMPOSITION == LABEL_stream_k  ? pgtune::Decomposition::kStreamK
                                : DECOMPOSITION == LABEL_split_k ? pgtune::Decomposition::kSplitK
                                                                 : pgtune::Decomposition::kDataParallel;
constexpr int kGroups = THREADS / 128;  ///< of warps that hand accumulators on together
constexpr auto kOutputType = DTYPE == LABEL_f16 ? pgtune::Type16::kF16 : pgtune::Type16::kBf16;
using Output = pgtune::MmaOutput<OUT_BYTES, kOutputType, PIECE_C>;

/// Adds the products of a segment's k-blocks.
__device__ __forceinline__ void accumulate(WarpAccumulators& totals, Producer& producer, Ring& ring, int blocks) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const unsigned lane_a = TileA::lane_offset(warp % (BM / WM) * WM, lane);
  const unsigned lane_b = TileA::kBytes + TileB::lane_offset(warp / (BM / WM) * WN, lane);
  const auto read = [&](Fragments& to, int step) {
    to.read(ring.stage(ring.read) + lane_a, ring.stage(ring.read) + lane_b, step);
  };

  if constexpr (FRAGMENT_STAGES == 1) {
#pragma unroll 1
    for (int block = 0; block < blocks; ++block) {
      await_tile();
      producer.start(ring);
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        Fragments now;
        read(now, step);
        totals.add(now, step);
      }
      producer.finish(ring);
      Ring::advance(ring.read);
    }
  } else {
    Fragments fragments[2];
    await_tile();
    read(fragments[0], 0);
#pragma unroll 1
    for (int block = 0; block < blocks; ++block) {
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        if (step == kSteps - 1) {
          producer.finish(ring);
          Ring::advance(ring.read);
          await_tile();
        }
        read(fragments[(step + 1) % 2], (step + 1) % kSteps);
        if (step == 0) producer.start(ring);
        totals.add(fragments[step % 2], step);
      }
    }
  }
}

/// A warp's accumulators are those of kFragmentsA x kFragmentsB blocks of 16 x 16 of D, one block's after another's.
/// With split-K each of K_SLICES CTAs finishes neighbouring blocks of a row, or whole rows of blocks.
constexpr int kBlockAccumulators = 8;  ///< of a thread
constexpr int kSliceDown = K_SLICES < kFragmentsA ? kFragmentsA / K_SLICES : 1;
constexpr int kSliceAcross = K_SLICES < kFragmentsA ? kFragmentsB : kFragmentsA * kFragmentsB / K_SLICES;
using SplitKReduction = pgtune::SplitKReduction<SPLIT_K, K_SLICES, 1, kAccumulators, pgtune::Accumulator>;

/// Stores kDown x kAcross blocks of accumulators from `row` and `column` of D on. Neighbours of a row belong to one
/// instruction or, where lanes have columns of B in another order (outer_of()), are the same accumulator of a
/// fragment's two instructions.
template <int kDown, int kAcross>
__device__ __forceinline__ void write_blocks(const pgtune::Accumulator (&acc)[kDown * kAcross * kBlockAccumulators],
                                             const pgtune::MmaDestination& to, int row, int column) {
  const int lane = pgtune::lane_index();
#pragma unroll
  for (int i = 0; i < 2 * kDown; ++i) {
    const int at_row = row + i / 2 * 16 + TileA::outer_of(i % 2, lane / 4);
#pragma unroll
    for (int j = 0; j < 2 * kAcross; ++j) {
      const pgtune::Accumulator* const block = acc + (i / 2 * kAcross + j / 2) * kBlockAccumulators;
      const auto sum = [&](int half, int place) { return block[half * 4 + i % 2 * 2 + place]; };
      const int odd = j % 2, half = TileB::kByBytes ? 0 : odd, place = TileB::kByBytes ? odd : 0;
      const pgtune::Accumulator two[2] = {sum(half, place), TileB::kByBytes ? sum(1, odd) : sum(odd, 1)};
      Output::write(two, to, at_row, column + j / 2 * 16 + TileB::outer_of(half, lane % 4 * 2 + place));
    }
  }
}

}  // namespace

/// `workspace` holds the packed operands first, then partial accumulators of tiles that are split along K, then their
/// flags. Offsets are in bytes; lda and ldb are those of the packed operands where there are such.
extern "C" __global__ void __launch_bounds__(THREADS, CTAS_PER_SM)
    gemm_mma(const char* A, const char* B, const char* C, char* D, char* workspace, long long partials_at,
             long long flags_at, long long packed_b_at, int M, int N, int K, long long lda, long long ldb,
             long long ldc, long long stride_a, long long stride_b, long long stride_c, int batches, float alpha,
             float beta, const void* bias) {
  extern __shared__ __align__(1024) unsigned char stages[];
  const unsigned shared = pgtune::shared_address(stages);
  const unsigned tile_rows = (M - 1) / BM + 1, tile_columns = (N - 1) / BN + 1;
  const int worker = static_cast<int>(blockIdx.x);
  const pgtune::TileWork work{static_cast<int>(tile_rows * tile_columns) * batches, (K - 1) / kBlockK + 1,
                              static_cast<int>(gridDim.x), kDecomposition};
  const auto tile_of = [&](const pgtune::Segment& segment) {
    return pgtune::rasterized_tile<RASTER_GROUP_AXIS == LABEL_n, RASTER_GROUP>(segment.tile, tile_rows, tile_columns,
                                                                               batches);
  };
#if PACK_A
  A = workspace;
#endif
#if PACK_B
  B = workspace + packed_b_at;
#endif
  const auto producer_of = [&](const pgtune::Segment& segment) {
    const auto tile = tile_of(segment);
    const int k = segment.first * kBlockK;
    return Producer{CopyA(A + tile.batch * stride_a * ELEM_BYTES, lda, tile.row * BM, M, k),
                    CopyB(B + tile.batch * stride_b * ELEM_BYTES, ldb, tile.column * BN, N, k), K - k,
                    segment.last - segment.first};
  };

  Ring ring{shared};
  pgtune::Segment segment;
  bool more = work.segment(segment, 0, worker);
  if (!more) return;
  Producer producer = producer_of(segment);
  producer.begin(ring);
#pragma unroll 1
  for (int i = 1; more; ++i) {
    WarpAccumulators totals;
    accumulate(totals, producer, ring, segment.last - segment.first);
    const pgtune::Segment done = segment;
    more = work.segment(segment, i, worker);
    if (more) {
      // The next tile's first copies are in flight while this one's results are stored. Copies that brought nothing may
      // still be counted; their stages are empty.
      __syncthreads();
      producer = producer_of(segment);
      producer.begin(ring);
    }

    const int warp = pgtune::thread_index() / 32;
    if constexpr (kDecomposition == pgtune::Decomposition::kStreamK) {
      pgtune::Accumulator* const all = &totals.acc[0][0][0];
      const pgtune::StreamKReduction<kAccumulators, pgtune::Accumulator> stream_k_reduction{
          reinterpret_cast<float4*>(workspace + partials_at) + warp / 4 * (kAccumulators / 4 * 128),
          reinterpret_cast<unsigned*>(workspace + flags_at) + warp / 4, kGroups, 1 + warp / 4};
      if (done.first > 0) {
        stream_k_reduction.store_partial(all, worker);
        continue;
      }
      if (done.last < work.blocks) stream_k_reduction.add_partials(all, work, done, worker);
    }
    const auto tile = tile_of(done);
    const long long batch = tile.batch * stride_c * OUT_BYTES;
    const pgtune::MmaDestination to{C + batch, D + batch, ldc, M, N, alpha, beta, bias};
    const int row = tile.row * BM + warp % (BM / WM) * WM, column = tile.column * BN + warp / (BM / WM) * WN;
    if constexpr (SPLIT_K > 1) {
      const int part = worker % SPLIT_K, number = done.tile * kGroups + warp / 4;
      SplitKReduction::Slice own;
      const bool finishes = SplitKReduction::exchange(
          own, reinterpret_cast<const SplitKReduction::Accumulators&>(totals.acc),
          reinterpret_cast<float4*>(workspace + partials_at) + number * SplitKReduction::kFours,
          reinterpret_cast<unsigned*>(workspace + flags_at) + number, part, 1 + warp / 4);
      const int first = part * kSliceDown * kSliceAcross;  // of the slice's blocks
      if (finishes) {
        write_blocks<kSliceDown, kSliceAcross>(own[0], to, row + first / kFragmentsB * 16,
                                               column + first % kFragmentsB * 16);
      }
    } else {
      write_blocks<kFragmentsA, kFragmentsB>(reinterpret_cast<const pgtune::Accumulator(&)[kAccumulators]>(totals.acc),
                                             to, row, column);
    }
  }
}
