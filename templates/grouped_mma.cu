// SPDX-License-Identifier: MIT
// Products of rows with matrices whose columns lie along K, on tensor cores by mma.sync, fed by cp.async; sm_80 and
// newer, 8-bit floats sm_89. GROUPED: rows of A belong to groups, each with a matrix B of its own, and where groups
// begin only the GPU knows. BLOCK_SCALED: operands are 8-bit floats with a float32 scale for each 128 along K.
//
// A CTA computes a BM x BN tile of D, each warp a WM x WN part of it. All threads fill a pipeline of STAGES stages in
// shared memory ahead while they multiply; a stage has BK_BYTES of each row. With scales a stage is one block: tensor
// cores start from zero in each, and its sums are scaled and added in float32.
//
// Tiles of groups: a group has as many rows of tiles as cover its rows. Each CTA counts them to find its tile; the grid
// has a CTA for as many tiles as there can be, and those left over end at once, or with GRID=persistent as many CTAs as
// run at a time, each of which takes one tile after another.

// GROUPED is 0 or one of these.
#define ADJACENT 1
#define MASKED 2

// Of the parts that it shares with gemm_mma: both operands lie along K, and nothing is float32.
#define TRANS_A 0
#define TRANS_B 1
#define TF32_ROUNDING 0
#define LABEL_nearest 1
#define PROMOTION_INTERVAL 1

#include "device/copy/row_tile.cuh"
#include "device/epilogue/out_element.cuh"
#include "device/mainloop/mma_consumer.cuh"
#include "device/scheduler/group_tile.cuh"

namespace {

using namespace pgtune::product;

using CopyA = pgtune::RowTileCopy<TileA, THREADS>;
using CopyB = pgtune::RowTileCopy<TileB, THREADS>;
constexpr auto kOutputType = DTYPE == LABEL_f16 ? pgtune::Type16::kF16 : pgtune::Type16::kBf16;
constexpr int kScaleBlock = 128;

#if BLOCK_SCALED
static_assert(BK_BYTES == kScaleBlock && kScaleBlock % WN == 0, "a stage and a warp's columns have one scale of B");

/// The scales of a warp's rows and columns: each thread has those of the rows that it accumulates.
struct Scales {
  const float *a, *b;  ///< of the first block along K
  long long ld_a;      ///< from block to block of A
  int rows_left;       ///< from the thread's first row to the matrix' end
  float of_rows[2 * kFragmentsA], of_columns;

  __device__ __forceinline__ void read(int block) {
#pragma unroll
    for (int i = 0; i < 2 * kFragmentsA; ++i) of_rows[i] = 8 * i < rows_left ? __ldg(a + block * ld_a + 8 * i) : 0.0f;
    of_columns = __ldg(b + block);
  }
  __device__ __forceinline__ void add(Accumulators& to, const Accumulators& sums) const {
#pragma unroll
    for (int i = 0; i < kFragmentsA; ++i) {
#pragma unroll
      for (int j = 0; j < 2 * kFragmentsB; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) to[i][j][e] += of_rows[2 * i + e / 2] * of_columns * sums[i][j][e];
      }
    }
  }
};
#endif

/// Stores two neighbours of a row, as far as they lie inside D, whose rows begin at multiples of four bytes where
/// kPairs.
template <bool kPairs>
__device__ __forceinline__ void store_two(unsigned short* at, int left, float first, float second) {
  const unsigned both = pgtune::pack<kOutputType>(first, second);
  if (kPairs && left > 1) {
    *reinterpret_cast<unsigned*>(at) = both;
    return;
  }
  if (left > 0) at[0] = static_cast<unsigned short>(both);
  if (left > 1) at[1] = static_cast<unsigned short>(both >> 16);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS, CTAS_PER_SM)
    grouped_mma(const char* A, const char* B, unsigned short* D, int N, long long K,
#if GROUPED == MASKED
                const int* rows, int groups, int capacity,
#elif GROUPED == ADJACENT
                const int* offsets, int groups,
#else
                int M,
#endif
#if BLOCK_SCALED
                const float* SA, const float* SB, long long ld_sa,
#endif
                int tile_columns) {
  extern __shared__ __align__(1024) unsigned char stages[];
  const unsigned shared = pgtune::shared_address(stages);
#if GROUPED == MASKED
  const pgtune::MaskedGroups all{rows, groups, capacity};
#elif GROUPED == ADJACENT
  const pgtune::AdjacentGroups all{offsets, groups};
#else
  const pgtune::OneGroup all{M};
#endif
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int warp_row = warp % (BM / WM) * WM, warp_column = warp / (BM / WM) * WN;
  const unsigned lane_a = TileA::lane_offset(warp_row, lane);
  const unsigned lane_b = TileA::kBytes + TileB::lane_offset(warp_column, lane);
  const long long row_bytes = K * ELEM_BYTES;
  const int blocks = static_cast<int>((row_bytes + BK_BYTES - 1) / BK_BYTES);
  const unsigned tile_rows = pgtune::count_tile_rows<BM>(all), tiles = tile_rows * tile_columns;

#pragma unroll 1
  for (unsigned at = blockIdx.x; at < tiles; at += gridDim.x) {
    const auto tile = pgtune::find_group_tile<BM>(
        all, static_cast<int>(RASTER == LABEL_along_n ? at / tile_columns : at % tile_rows));
    const int column = static_cast<int>(RASTER == LABEL_along_n ? at % tile_columns : at / tile_rows) * BN;
    const CopyA copy_a(A, row_bytes, tile.row, tile.end);
    const CopyB copy_b(B + tile.group * N * row_bytes, row_bytes, column, N);
    const auto fill = [&](int block) {
      const unsigned to = shared + block % STAGES * kStageBytes;
      if (block < blocks) {
        copy_a.start(to, static_cast<long long>(block) * BK_BYTES);
        copy_b.start(to + TileA::kBytes, static_cast<long long>(block) * BK_BYTES);
      }
      pgtune::cp_async_commit();
    };

    const int row = tile.row + warp_row + lane / 4;  // of the thread's first accumulators
    WarpAccumulators totals;
#if BLOCK_SCALED
    const long long blocks_n = (N + kScaleBlock - 1) / kScaleBlock;
    // A warp whose columns lie outside D multiplies zeros: any scale will do.
    const long long block_n = min(static_cast<long long>((column + warp_column) / kScaleBlock), blocks_n - 1);
#if GROUPED == MASKED
    const float* const scales_a = SA + tile.group * (blocks * ld_sa) + (row - tile.group * capacity);
#else
    const float* const scales_a = SA + row;
#endif
    Scales scales{scales_a, SB + (tile.group * blocks_n + block_n) * blocks, ld_sa, tile.end - row, {}, 0.0f};
#endif

    // Nobody reads stages of the tile before any more.
    __syncthreads();
#pragma unroll 1
    for (int block = 0; block < STAGES - 1; ++block) fill(block);
#pragma unroll 1
    for (int block = 0; block < blocks; ++block) {
      pgtune::cp_async_wait<STAGES - 2>();
      __syncthreads();
      fill(block + STAGES - 1);
      const unsigned from = shared + block % STAGES * kStageBytes;
#if BLOCK_SCALED
      scales.read(block);
      WarpAccumulators sums;
#else
      WarpAccumulators& sums = totals;
#endif
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        Fragments now;
        now.read(from + lane_a, from + lane_b, step);
        sums.add(now, step);
      }
#if BLOCK_SCALED
      scales.add(totals.acc, sums.acc);
#endif
    }

#pragma unroll
    for (int i = 0; i < 2 * kFragmentsA; ++i) {
      if (row + 8 * i >= tile.end) break;
#pragma unroll
      for (int j = 0; j < 2 * kFragmentsB; ++j) {
        const int to = column + warp_column + 8 * j + lane % 4 * 2;
        store_two<OUT_PAIRS>(D + (row + 8LL * i) * N + to, N - to, totals.acc[i / 2][j][i % 2 * 2],
                             totals.acc[i / 2][j][i % 2 * 2 + 1]);
      }
    }
  }
}
