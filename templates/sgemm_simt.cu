// SPDX-License-Identifier: MIT
// D = alpha * op(A) * op(B) + beta * C in strict fp32 on CUDA cores; row-major, any M, N, K and leading dimension.
//
// One CTA computes a BM x BN tile of D, one thread a TM x TN part of it, in k-blocks of BK. From this source come
//   STAGES 1            one stage: copy, wait, compute;
//   STAGES 2, COPY ldg  ping-pong: the next k-block is loaded to registers while this one is computed, then stored;
//   COPY cp_async       a pipeline of 2 to 5 stages that cp.async fills while earlier ones are computed.
// All sizes are macros; configs/sgemm_simt.json describes them and says which combinations make sense. TRANS_A,
// TRANS_B, EDGE (the tile does not divide the problem) and C_VEC (floats per access of C and D) come from the problem.
#include "device/mainloop/ffma.cuh"
#include "device/ptx/cp_async.cuh"
#include "device/ptx/ld_global.cuh"
#include "device/scheduler/batch_grid.cuh"
#include "device/scheduler/rasterization.cuh"

namespace {

using pgtune::LoadCache;

constexpr bool kCpAsync = COPY == LABEL_cp_async;
constexpr bool kPad = SMEM_LAYOUT == LABEL_pad;
constexpr bool kXor = SMEM_LAYOUT == LABEL_swizzle;
constexpr LoadCache kCache = CACHE == LABEL_ca   ? LoadCache::kAllLevels
                             : CACHE == LABEL_cg ? LoadCache::kL2Only
                             : CACHE == LABEL_cs ? LoadCache::kStreaming
                             : CACHE == LABEL_lu ? LoadCache::kLastUse
                                                 : LoadCache::kReadOnly;
constexpr bool kBypassL1 = kCache == LoadCache::kL2Only;
// A tile's cp.async instructions are spread over the first steps of the arithmetic: a burst would hold up the reads of
// shared memory that share their queue. Loads to registers all start at once, to be back in time.
constexpr int kParts = kCpAsync && STAGES > 1 ? COPY_SPREAD : 1;
constexpr pgtune::FfmaOrder kOrder = FFMA_ORDER == LABEL_column_serpentine ? pgtune::FfmaOrder::kColumnSerpentine
                                     : FFMA_ORDER == LABEL_row_serpentine  ? pgtune::FfmaOrder::kRowSerpentine
                                                                           : pgtune::FfmaOrder::kRowMajor;
constexpr int kLanesN = 32 / LANES_M;
constexpr int kWarpsN = BN / (TN * kLanesN);

/// One operand's tile: kExtent of D's index (m or n, here "outer") by BK of k, and how it is copied, stored and read.
/// In shared memory it lies as BK lines along outer, whatever the layout: where k is the contiguous direction in global
/// memory (kAlongK), the copy transposes it.
template <bool kAlongK, int kExtent, int kThreadExtent, int kLanes>
struct Tile {
  // cp.async writes as it reads, so only single floats can be transposed on the way.
  static constexpr int kWidth = kAlongK && kCpAsync ? 1 : VEC;

  // Copying. A line runs along the contiguous direction; kRunLanes threads take it, kWidth floats each. Transposing,
  // more than eight neighbours along k would meet in the same banks.
  static constexpr int kRun = kAlongK ? BK : kExtent;
  static constexpr int kLines = kAlongK ? kExtent : BK;
  static constexpr int kRunLanes = kAlongK && kRun / kWidth > 8 ? 8 : kRun / kWidth;
  static constexpr int kPieces = kExtent * BK / kWidth;
  static constexpr int kCopies = kPieces > THREADS ? kPieces / THREADS : 1;
  static_assert(kPieces <= THREADS || kPieces % THREADS == 0, "threads share the tile evenly");

  // Shared memory, in floats. Only transposing stores need care: padding or the XOR key moves lanes that lie along k to
  // different banks. The key has bits 2 to 4 alone, so four neighbours stay together.
  static constexpr int kPitch = kExtent + (kAlongK && kPad ? 4 : 0);
  static constexpr __device__ int key(int k) {
    return kAlongK && kXor ? k / kWidth % kRunLanes * (8 / kRunLanes) * 4 : 0;
  }

  /// Returns the index inside the tile of a thread's i-th row (or column): pieces of four, kLanes pieces apart, so that
  /// a warp reads neighbouring pieces.
  static constexpr __device__ int outer_step(int i) { return i / 4 * (4 * kLanes) + i % 4; }
  static __device__ __forceinline__ int first_outer(int warp, int lane) {
    return warp * (kLanes * kThreadExtent) + lane * 4;
  }

  const float* origin;  ///< the operand's first element, always readable
  const float* next;    ///< this thread's first piece of the next tile to copy
  long long ld;
  int line, run;   ///< position of that piece inside the tile
  int outer_left;  ///< from this tile's start to the matrix' end
  float staged[kCpAsync ? 1 : kCopies * kWidth];

  __device__ __forceinline__ Tile(const float* matrix, long long leading_dimension, int outer_start, int extent)
      : origin(matrix), ld(leading_dimension), outer_left(extent - outer_start) {
    const int piece = static_cast<int>(threadIdx.x);
    line = piece / kRunLanes % kLines;
    run = (piece % kRunLanes + piece / (kRunLanes * kLines) * kRunLanes) * kWidth;
    next = matrix + (kAlongK ? (outer_start + static_cast<long long>(line)) * ld + run : line * ld + outer_start + run);
  }

  // Where the c-th piece of this thread lies, relative to its first.
  static constexpr __device__ int line_step(int c) { return c * (THREADS / kRunLanes) % kLines; }
  static constexpr __device__ int run_step(int c) { return c * THREADS / (kRunLanes * kLines) * (kRunLanes * kWidth); }

  __device__ __forceinline__ const float* source(int c) const { return next + line_step(c) * ld + run_step(c); }

  /// Returns where float e of the c-th piece goes, in floats from the tile's start in shared memory.
  __device__ __forceinline__ int destination(int c, int e = 0) const {
    const int at_line = line + line_step(c);
    const int at_run = run + run_step(c) + e;
    return kAlongK ? at_run * kPitch + (at_line ^ key(at_run)) : at_line * kPitch + at_run;
  }

  __device__ __forceinline__ unsigned shared_destination(float* stage, int c) const {
    return pgtune::shared_address(stage) + 4 * destination(c);
  }

  /// Returns how many floats of the c-th piece lie inside the matrix.
  __device__ __forceinline__ int valid(int c, int k_left) const {
    const int line_left = (kAlongK ? outer_left : k_left) - line - line_step(c);
    const int run_left = (kAlongK ? k_left : outer_left) - run - run_step(c);
    return line_left > 0 ? max(0, min(kWidth, run_left)) : 0;
  }

  /// Starts copying this thread's pieces of one part of the next tile, to `stage` (cp.async) or to registers (ldg).
  /// What lies beyond the matrix becomes zero.
  __device__ __forceinline__ void start_part(float* stage, int part, int k_left, bool active) {
    if (kPieces < THREADS) active = active && threadIdx.x < kPieces;
#pragma unroll
    for (int c = 0; c < kCopies; ++c) {
      if (c * kParts / kCopies != part) continue;
      const int count = EDGE ? valid(c, k_left) : kWidth;
      if constexpr (!kCpAsync) {
        if (active) load_piece(c, count);
      } else if constexpr (EDGE) {
        pgtune::cp_async_zero_fill<4 * kWidth, kBypassL1>(shared_destination(stage, c), count > 0 ? source(c) : origin,
                                                          4 * count, active);
      } else {
        pgtune::cp_async<4 * kWidth, kBypassL1>(shared_destination(stage, c), source(c), active);
      }
    }
  }

  __device__ __forceinline__ void load_piece(int c, int count) {
    float* const out = staged + c * kWidth;
    if (count == kWidth) {
      pgtune::load_global<kWidth, kCache>(out, source(c));
      return;
    }
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      out[e] = 0.0f;
      if (e < count) pgtune::load_global<1, kCache>(out + e, source(c) + e);
    }
  }

  __device__ __forceinline__ void move_on() { next += kAlongK ? BK : BK * ld; }

  /// Stores what was loaded to registers into shared memory.
  __device__ __forceinline__ void store_staged(float* stage) const {
    if (kPieces < THREADS && threadIdx.x >= kPieces) return;
#pragma unroll
    for (int c = 0; c < kCopies; ++c) {
      const float* value = staged + c * kWidth;
      if constexpr (kAlongK || kWidth == 1) {
#pragma unroll
        for (int e = 0; e < kWidth; ++e) stage[destination(c, e)] = value[e];
      } else if constexpr (kWidth == 2) {
        *reinterpret_cast<float2*>(stage + destination(c)) = make_float2(value[0], value[1]);
      } else {
        *reinterpret_cast<float4*>(stage + destination(c)) = make_float4(value[0], value[1], value[2], value[3]);
      }
    }
  }

  /// Reads this thread's values for step k. `first` is where its first row starts in shared memory, in floats; a stage
  /// starts at a multiple of 32 floats, so the XOR key may be applied to the sum.
  static __device__ __forceinline__ void read(float (&value)[kThreadExtent], const float* shared, int first, int k) {
#pragma unroll
    for (int i = 0; i < kThreadExtent; i += 4) {
      const int low = kXor ? outer_step(i) % 32 : 0;
      const float* from = shared + (first ^ (key(k) ^ low)) + (k * kPitch + outer_step(i) - low);
      const float4 four = *reinterpret_cast<const float4*>(from);
      value[i] = four.x, value[i + 1] = four.y, value[i + 2] = four.z, value[i + 3] = four.w;
    }
  }
};

using TileA = Tile<TRANS_A == 0, BM, TM, LANES_M>;
using TileB = Tile<TRANS_B != 0, BN, TN, kLanesN>;

/// Writes alpha * acc + beta * C. C is read only where beta is not zero, and a row's values before any is written: C
/// and D may be the same buffer.
__device__ __forceinline__ void write_result(const float (&acc)[TM][TN], const float* C, float* D, long long ldc, int M,
                                             int N, int m_first, int n_first, float alpha, float beta) {
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int m = m_first + TileA::outer_step(i);
    if (EDGE && m >= M) continue;
    const float* c_row = C + m * ldc;
    float* d_row = D + m * ldc;
    float out[TN];
#pragma unroll
    for (int j = 0; j < TN; ++j) out[j] = alpha * acc[i][j];
    if (beta != 0.0f) {
#pragma unroll
      for (int j = 0; j < TN; j += C_VEC) {
        const int n = n_first + TileB::outer_step(j);
        if (C_VEC == 4 && (!EDGE || n + 4 <= N)) {
          const float4 c = *reinterpret_cast<const float4*>(c_row + n);
          out[j] = fmaf(beta, c.x, out[j]), out[j + 1] = fmaf(beta, c.y, out[j + 1]);
          out[j + 2] = fmaf(beta, c.z, out[j + 2]), out[j + 3] = fmaf(beta, c.w, out[j + 3]);
        } else {
#pragma unroll
          for (int e = 0; e < C_VEC; ++e) {
            if (!EDGE || n + e < N) out[j + e] = fmaf(beta, c_row[n + e], out[j + e]);
          }
        }
      }
    }
#pragma unroll
    for (int j = 0; j < TN; j += C_VEC) {
      const int n = n_first + TileB::outer_step(j);
      if (C_VEC == 4 && (!EDGE || n + 4 <= N)) {
        *reinterpret_cast<float4*>(d_row + n) = make_float4(out[j], out[j + 1], out[j + 2], out[j + 3]);
      } else {
#pragma unroll
        for (int e = 0; e < C_VEC; ++e) {
          if (!EDGE || n + e < N) d_row[n + e] = out[j + e];
        }
      }
    }
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS, MIN_CTAS)
    sgemm_simt(const float* __restrict__ A, const float* __restrict__ B, const float* C, float* D, int M, int N, int K,
               long long lda, long long ldb, long long ldc, long long stride_a, long long stride_b, long long stride_c,
               float alpha, float beta) {
  extern __shared__ float4 shared_memory[];  // float4 for its alignment
  float* const shared = reinterpret_cast<float*>(shared_memory);

  const unsigned cta = CTA_OF_MATRIX(((M - 1) / BM + 1) * ((N - 1) / BN + 1));
  const pgtune::TileIndex tile = pgtune::grouped_tile<RASTER_GROUP>(cta, (M - 1) / BM + 1, (N - 1) / BN + 1);
  const int m_tile = static_cast<int>(tile.row) * BM;
  const int n_tile = static_cast<int>(tile.column) * BN;
  const long long batch = MATRIX_OF_BATCH(z, ((M - 1) / BM + 1) * ((N - 1) / BN + 1));

  // Lanes are dealt so that each half of a warp reads four neighbouring pieces of A and four of B: a 16-byte read then
  // takes two passes over the banks instead of four.
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int of_eight = lane / 8 * 2 + lane % 2;
  const int of_four = lane / 2 % 4;
  const int m_first = TileA::first_outer(warp / kWarpsN, LANES_M == 8 ? of_eight : of_four);
  const int n_first = TileB::first_outer(warp % kWarpsN, LANES_M == 8 ? of_four : of_eight);

  TileA a_tile(A + batch * stride_a, lda, m_tile, M);
  TileB b_tile(B + batch * stride_b, ldb, n_tile, N);
  float a[FRAGMENT_STAGES][TM], b[FRAGMENT_STAGES][TN];
  float acc[TM][TN] = {};

  const int blocks = (K - 1) / BK + 1;
  int k_left = K;  // of the next tile to copy

  // Stages are named by where they start in shared memory, in floats.
  const auto start_part = [&](int stage, int part, bool active) {
    a_tile.start_part(shared + stage, part, k_left, active);
    b_tile.start_part(shared + stage + SMEM_A_FLOATS, part, k_left, active);
    if (part == kParts - 1) {
      a_tile.move_on();
      b_tile.move_on();
      k_left -= BK;
      if constexpr (kCpAsync) pgtune::cp_async_commit();
    }
  };
  const auto start_copy = [&](int stage, bool active) {
#pragma unroll
    for (int part = 0; part < kParts; ++part) start_part(stage, part, active);
  };
  const auto store_staged = [&](int stage) {
    a_tile.store_staged(shared + stage);
    b_tile.store_staged(shared + stage + SMEM_A_FLOATS);
  };
  const auto read_step = [&](int stage, int k) {
    TileA::read(a[k % FRAGMENT_STAGES], shared, stage + m_first, k);
    TileB::read(b[k % FRAGMENT_STAGES], shared, stage + SMEM_A_FLOATS + n_first, k);
  };

#if STAGES == 1
  for (int block = 0; block < blocks; ++block) {
    start_copy(0, true);
    if constexpr (kCpAsync) {
      pgtune::cp_async_wait<0>();
    } else {
      store_staged(0);
    }
    __syncthreads();
    if constexpr (FRAGMENT_STAGES == 2) read_step(0, 0);
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      if constexpr (FRAGMENT_STAGES == 1) {
        read_step(0, k);
      } else if (k + 1 < BK) {
        read_step(0, k + 1);
      }
      pgtune::multiply<kOrder>(acc, a[k % FRAGMENT_STAGES], b[k % FRAGMENT_STAGES]);
    }
    __syncthreads();
  }
#else
  constexpr int kLastStage = (STAGES - 1) * SMEM_STAGE_FLOATS;
  int reading = 0;
  int writing = kLastStage;

  // Makes the next tile readable, and the buffer of the tile before this one writable.
  const auto await_next = [&](int stage, bool copied) {
    if constexpr (kCpAsync) {
      pgtune::cp_async_wait<STAGES - 2>();
    } else {
      if (copied) store_staged(stage);
    }
    __syncthreads();
  };

  // Tiles 0 to STAGES - 2 are on their way before the first is computed.
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) start_copy(s * SMEM_STAGE_FLOATS, s < blocks);
  await_next(0, true);
  if constexpr (FRAGMENT_STAGES == 2) read_step(reading, 0);

#pragma unroll 1
  for (int block = 0; block < blocks; ++block) {
    const bool copies = block + STAGES - 1 < blocks;
    const int following = reading == kLastStage ? 0 : reading + SMEM_STAGE_FLOATS;
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      if (k < kParts) start_part(writing, k, copies);
      if constexpr (FRAGMENT_STAGES == 1) {
        read_step(reading, k);
      } else if (k + 1 < BK) {
        read_step(reading, k + 1);
      } else {
        // All of this tile is in registers; its buffer may go once every warp got here.
        await_next(writing, copies);
        read_step(following, 0);
      }
      pgtune::multiply<kOrder>(acc, a[k % FRAGMENT_STAGES], b[k % FRAGMENT_STAGES]);
    }
    if constexpr (FRAGMENT_STAGES == 1) await_next(writing, copies);
    writing = reading;
    reading = following;
  }
#endif

  const long long start = batch * stride_c;
  write_result(acc, C + start, D + start, ldc, M, N, m_tile + m_first, n_tile + n_first, alpha, beta);
}
