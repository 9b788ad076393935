// SPDX-License-Identifier: MIT
// D = activation(alpha * op(A) * op(B) + beta * C + bias) on tensor cores by mma.sync, fed by cp.async: any GPU from
// sm_80 on, any layout and any alignment.
//
// A CTA computes a BM x BN tile of D, each warp a WM x WN part of it. A ring of STAGES tiles of both operands in shared
// memory is filled ahead by all threads while they multiply; one barrier a k-block says both that the next tile has
// arrived and that the last one may be overwritten. FRAGMENTS 2: what the next 32 bytes of k need is read from shared
// memory while the tensor cores work on these.
//
// Tiles may be cut along K among CTAs (SPLIT); sums are added in a fixed order. With PACK, operands whose rows are not
// aligned to 16 bytes are first copied to rows that are: narrow copies take longer than that where there is much to do.
#include "device/epilogue/mma_output.cuh"
#include "device/epilogue/stream_k_reduction.cuh"
#include "device/mainloop/mma_consumer.cuh"
#include "device/mainloop/mma_producer.cuh"
#include "device/ptx/shared_memory.cuh"
#include "device/ptx/special_registers.cuh"
#include "device/scheduler/rasterization.cuh"

namespace {

using namespace pgtune::product;

constexpr bool kShares = SPLIT != 1;  ///< tiles are cut along K
constexpr auto kSixteen = MATH_MODE == LABEL_f16 ? pgtune::Sixteen::kF16 : pgtune::Sixteen::kBf16;
using Output = pgtune::MmaOutput<pgtune::Sum, OUT_BYTES, kSixteen, PIECE_C>;

/// Adds the products of a segment's k-blocks.
__device__ __forceinline__ void accumulate(Totals& totals, Feed& feed, Ring& ring, int blocks) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const unsigned lane_a = TileA::lane_offset(warp % (BM / WM) * WM, lane);
  const unsigned lane_b = TileA::kBytes + TileB::lane_offset(warp / (BM / WM) * WN, lane);
  const auto read = [&](Fragments& to, int step) {
    to.read(ring.stage(ring.read) + lane_a, ring.stage(ring.read) + lane_b, step);
  };

  if constexpr (FRAGMENTS == 1) {
#pragma unroll 1
    for (int block = 0; block < blocks; ++block) {
      await_tile();
      feed.start(ring);
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        Fragments now;
        read(now, step);
        totals.add(now, step);
      }
      feed.finish(ring);
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
          feed.finish(ring);
          Ring::advance(ring.read);
          await_tile();
        }
        read(fragments[(step + 1) % 2], (step + 1) % kSteps);
        if (step == 0) feed.start(ring);
        totals.add(fragments[step % 2], step);
      }
    }
  }
}

/// Writes a warp's sums; its tile starts at `row` and `column` of D. Neighbours of a row are either one instruction's
/// or, where lanes have columns of B in another order (outer_of()), the same sum of a fragment's two.
__device__ __forceinline__ void write_tile(const Sums& sums, const pgtune::MmaDestination& to, int row, int column) {
  const int lane = pgtune::lane_index();
#pragma unroll
  for (int i = 0; i < 2 * kFragmentsA; ++i) {
    const int at_row = row + i / 2 * 16 + TileA::outer_of(i % 2, lane / 4);
#pragma unroll
    for (int j = 0; j < 2 * kFragmentsB; ++j) {
      const auto sum = [&](int half, int place) { return sums[i / 2][j / 2 * 2 + half][i % 2 * 2 + place]; };
      const int odd = j % 2, half = TileB::kByBytes ? 0 : odd, place = TileB::kByBytes ? odd : 0;
      const pgtune::Sum two[2] = {sum(half, place), TileB::kByBytes ? sum(1, odd) : sum(odd, 1)};
      Output::write(two, to, at_row, column + j / 2 * 16 + TileB::outer_of(half, lane % 4 * 2 + place));
    }
  }
}

}  // namespace

/// `workspace` holds packed operands first, then partial sums of tiles that are cut along K, then their flags. Offsets
/// are in bytes; lda and ldb are those of packed operands where these are.
extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    gemm_mma(const char* A, const char* B, const char* C, char* D, char* workspace, long long partials_at,
             long long flags_at, long long packed_b_at, int M, int N, int K, long long lda, long long ldb,
             long long ldc, long long stride_a, long long stride_b, long long stride_c, int batches, float alpha,
             float beta, const void* bias) {
  extern __shared__ __align__(1024) unsigned char stages[];
  const unsigned shared = pgtune::shared_address(stages);
  const unsigned tile_rows = (M - 1) / BM + 1, tile_columns = (N - 1) / BN + 1;
  const int worker = static_cast<int>(blockIdx.x);
  const pgtune::TileWork work{static_cast<int>(tile_rows * tile_columns) * batches, (K - 1) / kDepth + 1,
                              static_cast<int>(gridDim.x), kShares ? pgtune::Sharing::kStream : pgtune::Sharing::kNone};
  const auto tile_of = [&](const pgtune::Segment& segment) {
    return pgtune::ordered_tile<BANDS == LABEL_n, BAND>(segment.tile, tile_rows, tile_columns, batches);
  };
#if PACK_A
  A = workspace;
#endif
#if PACK_B
  B = workspace + packed_b_at;
#endif
  const auto feed_of = [&](const pgtune::Segment& segment) {
    const auto tile = tile_of(segment);
    const int k = segment.first * kDepth;
    return Feed{CopyA(A + tile.batch * stride_a * ELEM_BYTES, lda, tile.row * BM, M, k),
                CopyB(B + tile.batch * stride_b * ELEM_BYTES, ldb, tile.column * BN, N, k), K - k,
                segment.last - segment.first};
  };

  Ring ring{shared};
  pgtune::Segment segment;
  bool more = work.segment(segment, 0, worker);
  if (!more) return;
  Feed feed = feed_of(segment);
  feed.begin(ring);
#pragma unroll 1
  for (int i = 1; more; ++i) {
    Totals totals;
    accumulate(totals, feed, ring, segment.last - segment.first);
    const pgtune::Segment done = segment;
    more = work.segment(segment, i, worker);
    if (more) {
      // The next tile's first copies are under way while this one's results are written. Copies that brought nothing
      // may still be counted; the stages they were for are empty.
      __syncthreads();
      feed = feed_of(segment);
      feed.begin(ring);
    }

    const int warp = pgtune::thread_index() / 32;
    if constexpr (kShares) {
      constexpr int kGroups = THREADS / 128;
      pgtune::Sum* const all = &totals.sums[0][0][0];
#if MATH_MODE == LABEL_int8
      using Shared = pgtune::WholeSums<kSums>;
#else
      using Shared = pgtune::SharedSums<kSums>;
#endif
      const Shared shared_sums{reinterpret_cast<float4*>(workspace + partials_at) + warp / 4 * (kSums / 4 * 128),
                               reinterpret_cast<unsigned*>(workspace + flags_at) + warp / 4, kGroups, 1 + warp / 4};
      if (done.first > 0) {
        shared_sums.give(all, worker);
        continue;
      }
      if (done.last < work.blocks) shared_sums.collect(all, work, done, worker);
    }
    const auto tile = tile_of(done);
    const long long batch = tile.batch * stride_c * OUT_BYTES;
    const pgtune::MmaDestination to{C + batch, D + batch, ldc, M, N, alpha, beta, bias};
    write_tile(totals.sums, to, tile.row * BM + warp % (BM / WM) * WM, tile.column * BN + warp / (BM / WM) * WN);
  }
}

#if PACK_A || PACK_B
/// An operand whose rows are not aligned, copied to rows that are, `at` bytes into the workspace: 16 bytes a thread and
/// time. `columns` along the rows.
extern "C" __global__ void __launch_bounds__(256)
    pack_operand(const char* from, char* workspace, long long at, int rows, int columns, long long ld, long long stride,
                 long long ld_packed, long long stride_packed) {
  const int byte = static_cast<int>(blockIdx.x * 64 + threadIdx.x % 64) * 16, left = columns * ELEM_BYTES - byte;
  if (left <= 0) return;
  from += blockIdx.z * stride * ELEM_BYTES + byte;
  char* const to = workspace + at + blockIdx.z * stride_packed * ELEM_BYTES + byte;
  const int first = static_cast<int>(blockIdx.y) * 16, end = min(rows, first + 16);
#pragma unroll 4
  for (int row = first + static_cast<int>(threadIdx.x) / 64; row < end; row += 4) {
    unsigned piece[4];
    pgtune::load_piece<ELEM_BYTES>(piece, from + row * ld * ELEM_BYTES, min(left, 16));
    *reinterpret_cast<uint4*>(to + row * ld_packed * ELEM_BYTES) = make_uint4(piece[0], piece[1], piece[2], piece[3]);
  }
}
#endif
