// SPDX-License-Identifier: MIT
// D = alpha * op(A) * op(B) + beta * C in strict fp32: the steps by which a GEMM is usually taught, to be read and
// measured one after another (pgtune ladder); row-major, any M, N, K and leading dimension.
//
//   METHOD naive      one thread an element, neighbouring threads in neighbouring rows of D;
//   METHOD coalesced  the same, neighbouring threads in neighbouring columns;
//   METHOD tiled      a CTA computes a BM x BN tile of D from tiles of A and B in shared memory, a thread TM x TN of
//   it.
//
// The tiled steps, each added to the one before: PAD against bank conflicts; STAGES 2, so that the next tile is loaded
// while this one is used; thread tiles; VEC 4, accesses of 16 bytes; WARP_TILES, so that a warp reads little; and
// STAGE_SELECT, how the two stages take turns. What comes after them (cp.async, TMA) is in templates of its own.
#include "device/ptx/ld_global.cuh"

namespace {

// Threads that share out a tile's rows and columns among themselves: those of a warp, or those of the whole CTA.
constexpr int kSpanM = WARP_TILES ? 4 : BM / TM;
constexpr int kSpanN = WARP_TILES ? 8 : BN / TN;

/// One operand's tile: kExtent of D's index (m or n, here "outer") by BK of k. In shared memory it lies as BK lines
/// along outer, whatever the layout: where k is the contiguous direction in global memory (kAlongK), storing transposes
/// it, and without PAD the lanes of a warp then meet in few banks.
template <bool kAlongK, int kExtent, int kThreadExtent, int kSpan>
struct Tile {
  static constexpr int kPitch = kExtent + PAD;
  static constexpr int kRunPieces = (kAlongK ? BK : kExtent) / VEC;  ///< pieces of VEC floats in a contiguous run
  static constexpr int kPassLines = THREADS / kRunPieces;            ///< runs that all threads copy at once
  static constexpr int kCopies = METHOD == LABEL_tiled ? kExtent * BK / VEC / THREADS : 1;

  /// A thread's i-th row (or column) relative to its first: neighbouring threads have neighbouring pieces.
  static constexpr __device__ int outer_step(int i) { return i / VEC * (VEC * kSpan) + i % VEC; }

  const float* next;  ///< this thread's first piece of the next tile to load
  long long ld;
  int line, run;   ///< position of that piece inside the tile
  int outer_left;  ///< from this tile's start to the matrix' end
  float staged[kCopies * VEC];

  __device__ __forceinline__ Tile(const float* matrix, long long leading_dimension, int outer_start, int extent)
      : ld(leading_dimension), outer_left(extent - outer_start) {
    line = static_cast<int>(threadIdx.x) / kRunPieces;
    run = static_cast<int>(threadIdx.x) % kRunPieces * VEC;
    next = matrix + (kAlongK ? (outer_start + static_cast<long long>(line)) * ld + run : line * ld + outer_start + run);
  }

  /// Loads this thread's pieces of the next tile to registers. What lies beyond the matrix becomes zero.
  __device__ __forceinline__ void load(int k_left) {
#pragma unroll
    for (int c = 0; c < kCopies; ++c) {
      const float* const from = next + c * kPassLines * ld;
      float* const out = staged + c * VEC;
      const int lines_left = (kAlongK ? outer_left : k_left) - line - c * kPassLines;
      const int run_left = (kAlongK ? k_left : outer_left) - run;
      if (!EDGE || (lines_left > 0 && run_left >= VEC)) {
        pgtune::load_global<VEC, pgtune::LoadCache::kAllLevels>(out, from);
        continue;
      }
#pragma unroll
      for (int e = 0; e < VEC; ++e) {
        out[e] = 0.0f;
        if (lines_left > 0 && e < run_left) pgtune::load_global<1, pgtune::LoadCache::kAllLevels>(out + e, from + e);
      }
    }
    next += kAlongK ? BK : BK * ld;
  }

  __device__ __forceinline__ void store(float* buffer) const {
#pragma unroll
    for (int c = 0; c < kCopies; ++c) {
      const int at_line = line + c * kPassLines;
      const float* const value = staged + c * VEC;
      if constexpr (VEC == 4 && !kAlongK) {
        *reinterpret_cast<float4*>(buffer + at_line * kPitch + run) =
            make_float4(value[0], value[1], value[2], value[3]);
      } else {
#pragma unroll
        for (int e = 0; e < VEC; ++e)
          buffer[kAlongK ? (run + e) * kPitch + at_line : at_line * kPitch + run] = value[e];
      }
    }
  }

  /// Reads this thread's values of step k.
  static __device__ __forceinline__ void read(float (&value)[kThreadExtent], const float* buffer, int first, int k) {
#pragma unroll
    for (int i = 0; i < kThreadExtent; i += VEC) {
      const float* const from = buffer + k * kPitch + first + outer_step(i);
      if constexpr (VEC == 4) {
        const float4 four = *reinterpret_cast<const float4*>(from);
        value[i] = four.x, value[i + 1] = four.y, value[i + 2] = four.z, value[i + 3] = four.w;
      } else {
        value[i] = *from;
      }
    }
  }
};

using TileA = Tile<TRANS_A == 0, BM, TM, kSpanM>;
using TileB = Tile<TRANS_B != 0, BN, TN, kSpanN>;

/// The tile's first row (or column) of this thread. `place` counts threads of a warp, or of the CTA, along the axis.
template <int kThreadExtent, int kSpan>
__device__ __forceinline__ int first_outer(int warp, int place) {
  return warp * (kSpan * kThreadExtent) + place * VEC;
}

/// acc += the tile's products.
__device__ __forceinline__ void multiply(float (&acc)[TM][TN], const float* buffer, int m_first, int n_first) {
#pragma unroll
  for (int k = 0; k < BK; ++k) {
    float a[TM], b[TN];
    TileA::read(a, buffer, m_first, k);
    TileB::read(b, buffer + SMEM_A_FLOATS, n_first, k);
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
      for (int j = 0; j < TN; ++j) acc[i][j] = fmaf(a[i], b[j], acc[i][j]);
    }
  }
}

/// All of K through shared memory.
__device__ __forceinline__ void accumulate(float (&acc)[TM][TN], float* shared, TileA& a_tile, TileB& b_tile,
                                           int m_first, int n_first, int K) {
  const auto load = [&](int k) {
    a_tile.load(K - k);
    b_tile.load(K - k);
  };
  const auto store = [&](float* buffer) {
    a_tile.store(buffer);
    b_tile.store(buffer + SMEM_A_FLOATS);
  };
#if STAGES == 1
#pragma unroll 1
  for (int k = 0; k < K; k += BK) {
    load(k);
    store(shared);
    __syncthreads();
    multiply(acc, shared, m_first, n_first);
    __syncthreads();  // before anybody overwrites what another still reads
  }
#else
  load(0);
  store(shared);
  __syncthreads();
  // With STAGE_SELECT xor this is the offset of the stage to read, in floats; otherwise it is its index.
  int reading = 0;
  const auto buffer = [&](int which) { return shared + (STAGE_SELECT == LABEL_xor ? which : which * STAGE_FLOATS); };
#pragma unroll 1
  for (int k = 0; k < K; k += BK) {
    const bool more = k + BK < K;
    const int writing = STAGE_SELECT == LABEL_xor ? reading ^ STAGE_FLOATS : 1 - reading;
    if (more) load(k + BK);
    multiply(acc, buffer(reading), m_first, n_first);
    if (more) store(buffer(writing));
    __syncthreads();  // one a tile: nobody writes the buffer that others read
    reading = writing;
  }
#endif
}

/// One element straight from global memory.
__device__ __forceinline__ float dot(const float* A, const float* B, long long lda, long long ldb, int m, int n,
                                     int K) {
  const float* a = A + (TRANS_A ? m : m * lda);
  const float* b = B + (TRANS_B ? n * ldb : n);
  const long long a_step = TRANS_A ? lda : 1, b_step = TRANS_B ? 1 : ldb;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k, a += a_step, b += b_step) sum = fmaf(__ldg(a), __ldg(b), sum);
  return sum;
}

/// Writes alpha * acc + beta * C. C is read only where beta is not zero; C and D may be the same buffer.
__device__ __forceinline__ void write_result(const float (&acc)[TM][TN], const float* C, float* D, long long ldc, int M,
                                             int N, int m_first, int n_first, float alpha, float beta) {
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int m = m_first + TileA::outer_step(i);
    if (EDGE && m >= M) continue;
#pragma unroll
    for (int j = 0; j < TN; j += C_VEC) {
      const int n = n_first + TileB::outer_step(j);
      const float* const c = C + m * ldc + n;
      float* const d = D + m * ldc + n;
      if constexpr (C_VEC == 4) {
        if (!EDGE || n + 4 <= N) {
          float4 out =
              make_float4(alpha * acc[i][j], alpha * acc[i][j + 1], alpha * acc[i][j + 2], alpha * acc[i][j + 3]);
          if (beta != 0.0f) {
            const float4 old = *reinterpret_cast<const float4*>(c);
            out.x = fmaf(beta, old.x, out.x), out.y = fmaf(beta, old.y, out.y);
            out.z = fmaf(beta, old.z, out.z), out.w = fmaf(beta, old.w, out.w);
          }
          *reinterpret_cast<float4*>(d) = out;
          continue;
        }
      }
#pragma unroll
      for (int e = 0; e < C_VEC; ++e) {
        if (EDGE && n + e >= N) continue;
        const float product = alpha * acc[i][j + e];
        d[e] = beta != 0.0f ? fmaf(beta, c[e], product) : product;
      }
    }
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS, MIN_CTAS)
    sgemm_classic(const float* __restrict__ A, const float* __restrict__ B, const float* C, float* D, int M, int N,
                  int K, long long lda, long long ldb, long long ldc, long long stride_a, long long stride_b,
                  long long stride_c, float alpha, float beta) {
  extern __shared__ float4 shared_memory[];  // float4 for its alignment

  const int columns = (N - 1) / BN + 1;  // of tiles
  const int m_tile = static_cast<int>(blockIdx.x) / columns * BM;
  const int n_tile = static_cast<int>(blockIdx.x) % columns * BN;
  const long long batch = blockIdx.z;
  A += batch * stride_a;
  B += batch * stride_b;
  C += batch * stride_c;
  D += batch * stride_c;

  const int thread = static_cast<int>(threadIdx.x);
  float acc[TM][TN] = {};
  int m_first, n_first;  // inside the tile
  if constexpr (METHOD == LABEL_naive) {
    m_first = thread % BM, n_first = thread / BM;
  } else if constexpr (WARP_TILES) {
    constexpr int kWarpsN = BN / (TN * kSpanN);
    const int lane = thread % 32, warp = thread / 32;
    m_first = first_outer<TM, kSpanM>(warp / kWarpsN, lane / kSpanN);
    n_first = first_outer<TN, kSpanN>(warp % kWarpsN, lane % kSpanN);
  } else {
    m_first = first_outer<TM, kSpanM>(0, thread / kSpanN);
    n_first = first_outer<TN, kSpanN>(0, thread % kSpanN);
  }

  if constexpr (METHOD == LABEL_tiled) {
    TileA a_tile(A, lda, m_tile, M);
    TileB b_tile(B, ldb, n_tile, N);
    accumulate(acc, reinterpret_cast<float*>(shared_memory), a_tile, b_tile, m_first, n_first, K);
  } else if (!EDGE || (m_tile + m_first < M && n_tile + n_first < N)) {
    acc[0][0] = dot(A, B, lda, ldb, m_tile + m_first, n_tile + n_first, K);
  }
  write_result(acc, C, D, ldc, M, N, m_tile + m_first, n_tile + n_first, alpha, beta);
}
