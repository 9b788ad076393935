// SPDX-License-Identifier: MIT
// D = activation(alpha * op(A) * op(B) + beta * C + bias) in float32 on CUDA cores, for products so small that they
// spend their time waiting for memory: long k-blocks whose loads are all in flight at once, and few barriers. Elements
// of 8 and 16 bits are widened on their way into shared memory, which is exact.
//
// CLUSTER_K CTAs of a cluster compute a BM x BN tile, each a range of k. All threads of a CTA load a k-block of BK
// steps into registers and from there into shared memory, in lines of one step of k, while SLICED_K groups of threads
// compute the k-block before, each its share of the steps (sliced-K). There are two stages and one barrier a k-block.
// At the end the groups add their accumulators through shared memory, and the CTAs theirs through distributed shared
// memory, each for a part of the tile, in an order that is the same in every run.
#include "device/copy/element_format.cuh"
#include "device/epilogue/finished_element.cuh"
#include "device/rows/vector_access.cuh"
#include "device/scheduler/batch_grid.cuh"
#if CLUSTER_K > 1
#include "device/ptx/cluster.cuh"
#include "device/ptx/shared_memory.cuh"
#endif

namespace {

using pgtune::Element, pgtune::RawVector;

constexpr int kGroup = (BM / TM) * (BN / TN);  ///< threads that compute the tile for a share of k
constexpr int kThreads = SLICED_K * kGroup;
constexpr int kSteps = BK / SLICED_K;
constexpr int kColumnsOfThreads = BN / TN;
constexpr int kTile = BM * BN;
/// Neighbours of D that a thread finishes: as many as one access takes of D or of another CTA's shared memory.
constexpr int kPiece = C_VEC == 4 || CLUSTER_K > 1 ? 4 : 1;

/// The address is a multiple of kBytes.
template <int kBytes>
__device__ __forceinline__ RawVector<kBytes> load_vector(const char* from) {
  const auto bits = pgtune::load_bits<false>(reinterpret_cast<const typename pgtune::Bits<kBytes>::Type*>(from));
  RawVector<kBytes> to;
  if constexpr (kBytes == 16) {
    to.words[0] = bits.x, to.words[1] = bits.y, to.words[2] = bits.z, to.words[3] = bits.w;
  } else if constexpr (kBytes == 8) {
    to.words[0] = bits.x, to.words[1] = bits.y;
  } else {
    to.words[0] = bits;
  }
  return to;
}

/// One operand's k-blocks: kOuter rows (or columns) of D, kAlongK where neighbours in memory are steps of k. One load
/// takes kVec elements, which stay as they are in memory until they are stored as float32.
template <int kOuter, bool kAlongK, int kVec, pgtune::Format kFormat>
struct Operand {
  static constexpr int kLine = kOuter + 4;  ///< padded: lines start in different banks, at multiples of 16 bytes
  static constexpr int kFloats = BK * kLine;
  static constexpr int kInner = kAlongK ? BK : kOuter;  ///< extent of a k-block along memory
  static constexpr int kPieces = kOuter * BK / kVec / kThreads;
  static constexpr int kBytes = kVec * ELEM_BYTES;
  static_assert(kPieces * kVec * kThreads == kOuter * BK, "threads load the same number of pieces");

  RawVector<kBytes> staged[kPieces];

  /// Where the i-th piece lies in the k-block: along memory and across.
  static __device__ __forceinline__ int inner(int i) {
    return (static_cast<int>(threadIdx.x) + i * kThreads) % (kInner / kVec) * kVec;
  }
  static __device__ __forceinline__ int across(int i) {
    return (static_cast<int>(threadIdx.x) + i * kThreads) / (kInner / kVec);
  }

  /// Loads the k-block that starts at step `k`, with zeros beyond the matrix. Rows are whole vectors apart.
  __device__ __forceinline__ void load(const char* from, long long ld, int outer, int k, int outer_end, int k_end) {
    const int inner_first = kAlongK ? k : outer, across_first = kAlongK ? outer : k;
    const int inner_end = kAlongK ? k_end : outer_end, across_end = kAlongK ? outer_end : k_end;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const int x = inner_first + inner(i), y = across_first + across(i);
      const char* const at = from + (y * ld + x) * ELEM_BYTES;
      if (y < across_end && x + kVec <= inner_end) {
        staged[i] = load_vector<kBytes>(at);
        continue;
      }
      staged[i] = RawVector<kBytes>::zero();
#pragma unroll
      for (int e = 0; e < kVec - 1; ++e) {
        if (y >= across_end || x + e >= inner_end) continue;
        const unsigned element = load_vector<ELEM_BYTES>(at + e * ELEM_BYTES).words[0];
        staged[i].words[e * ELEM_BYTES / 4] |= element << e * ELEM_BYTES % 4 * 8;
      }
    }
  }

  __device__ __forceinline__ void store(float* lines) const {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      float values[kVec];
      pgtune::widen_vector<kFormat>(values, staged[i]);
#pragma unroll
      for (int e = 0; e < kVec; ++e) {
        const int step = kAlongK ? inner(i) + e : across(i), outer = kAlongK ? across(i) : inner(i) + e;
        lines[step * kLine + outer] = values[e];
      }
    }
  }
};

template <int kCount>
__device__ __forceinline__ void read_line(float (&value)[kCount], const float* from) {
  if constexpr (kCount % 4 == 0) {
#pragma unroll
    for (int i = 0; i < kCount; i += 4) {
      const float4 four = *reinterpret_cast<const float4*>(from + i);
      value[i] = four.x, value[i + 1] = four.y, value[i + 2] = four.z, value[i + 3] = four.w;
    }
  } else {
    const float2 two = *reinterpret_cast<const float2*>(from);
    value[0] = two.x, value[1] = two.y;
  }
}

using OperandA = Operand<BM, TRANS_A == 0, A_VEC, pgtune::kFormatA>;
using OperandB = Operand<BN, TRANS_B == 1, B_VEC, pgtune::kFormatB>;
constexpr int kBuffer = OperandA::kFloats + OperandB::kFloats;

/// Adds what the slices of this CTA have stored of the piece that starts at float `i` of the tile.
__device__ __forceinline__ void add_slices(float (&sum)[kPiece], const float* buffers, int i) {
#pragma unroll
  for (int s = 0; s < SLICED_K; ++s) {
    const float* const from = buffers + s * kTile + i;
    if constexpr (kPiece == 4) {
      const float4 four = *reinterpret_cast<const float4*>(from);
      sum[0] += four.x, sum[1] += four.y, sum[2] += four.z, sum[3] += four.w;
    } else {
      sum[0] += *from;
    }
  }
}

#if CLUSTER_K > 1
/// Adds what each CTA of the cluster has at float `i` of its tile.
__device__ __forceinline__ void add_ctas(float (&sum)[kPiece], const float* tile, int i) {
  const unsigned here = pgtune::shared_address(tile + i);
#pragma unroll
  for (int other = 0; other < CLUSTER_K; ++other) {
    const float4 four = pgtune::load_shared_cluster(pgtune::map_shared_address(here, other));
    sum[0] += four.x, sum[1] += four.y, sum[2] += four.z, sum[3] += four.w;
  }
}
#endif

/// Finishes the first `count` of a piece's elements, from `column` of D on.
template <int kElements>
__device__ __forceinline__ void write_piece(float (&sum)[kElements], const Element* C, Element* D, int count,
                                            float alpha, float beta, const void* bias, int column) {
#pragma unroll
  for (int e = 0; e < kElements; ++e) {
    if (e < count) sum[e] = pgtune::finished_value(sum[e], C + e, alpha, beta, bias, column + e);
  }
  if constexpr (kElements == 4 && C_VEC == 4) {
    if (count >= 4) {
      pgtune::store_four(D, sum);
      return;
    }
  }
#pragma unroll
  for (int e = 0; e < kElements; ++e) {
    if (e < count) D[e] = pgtune::narrowed(sum[e]);
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    sgemm_small(const char* A, const char* B, const Element* C, Element* D, int M, int N, int K, long long lda,
                long long ldb, long long ldc, long long stride_a, long long stride_b, long long stride_c, float alpha,
                float beta, const void* bias) {
  extern __shared__ __align__(16) float buffers[];
  const int tiles_n = (N - 1) / BN + 1;
  const unsigned cta = CTA_OF_MATRIX(((M - 1) / BM + 1) * tiles_n * CLUSTER_K);
  const unsigned matrix = MATRIX_OF_BATCH(y, ((M - 1) / BM + 1) * tiles_n * CLUSTER_K);
  const int tile = static_cast<int>(cta) / CLUSTER_K, rank = static_cast<int>(cta) % CLUSTER_K;
  const int m = tile / tiles_n * BM, n = tile % tiles_n * BN;
  A += matrix * stride_a * ELEM_BYTES;
  B += matrix * stride_b * ELEM_BYTES;

  // This CTA's range of k starts at a whole vector. The last ones may be short, or empty.
  const int share = ((K - 1) / (4 * CLUSTER_K) + 1) * 4;
  const int k_first = rank * share, k_end = min(K, k_first + share);

  const int slice = static_cast<int>(threadIdx.x) / kGroup, thread = static_cast<int>(threadIdx.x) % kGroup;
  const int row = thread / kColumnsOfThreads * TM, column = thread % kColumnsOfThreads * TN;
  OperandA a;
  OperandB b;
  float acc[TM][TN] = {};
  a.load(A, lda, m, k_first, M, k_end);
  b.load(B, ldb, n, k_first, N, k_end);
  a.store(buffers);
  b.store(buffers + OperandA::kFloats);
  __syncthreads();
  float* now = buffers;
  float* next = buffers + kBuffer;
#pragma unroll 1
  for (int k = k_first + BK; k < k_end + BK; k += BK) {
    if (k < k_end) {
      a.load(A, lda, m, k, M, k_end);
      b.load(B, ldb, n, k, N, k_end);
    }
    const float* const lines_a = now + slice * kSteps * OperandA::kLine + row;
    const float* const lines_b = now + OperandA::kFloats + slice * kSteps * OperandB::kLine + column;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      float of_a[TM], of_b[TN];
      read_line(of_a, lines_a + step * OperandA::kLine);
      read_line(of_b, lines_b + step * OperandB::kLine);
#pragma unroll
      for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) acc[i][j] = fmaf(of_a[i], of_b[j], acc[i][j]);
      }
    }
    if (k < k_end) {
      a.store(next);
      b.store(next + OperandA::kFloats);
      float* const other = now;
      now = next, next = other;
    }
    __syncthreads();
  }

  // Each slice stores its accumulators as a tile of its own. Then every thread finishes neighbours, whole lines of D
  // side by side.
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) buffers[slice * kTile + (row + i) * BN + column + j] = acc[i][j];
  }
  const int first = static_cast<int>(threadIdx.x) * kPiece;
#if CLUSTER_K > 1
  if constexpr (SLICED_K > 1) {
    __syncthreads();
    for (int i = first; i < kTile; i += kThreads * kPiece) {
      float sum[kPiece] = {};
      add_slices(sum, buffers, i);
      *reinterpret_cast<float4*>(buffers + i) = make_float4(sum[0], sum[1], sum[2], sum[3]);
    }
  }
  pgtune::cluster_sync();
#else
  __syncthreads();
#endif
  C += matrix * stride_c;
  D += matrix * stride_c;
  constexpr int kOwn = kTile / CLUSTER_K;  ///< of the tile, what this CTA finishes
#pragma unroll
  for (int i = rank * kOwn + first; i < (rank + 1) * kOwn; i += kThreads * kPiece) {
    float sum[kPiece] = {};
#if CLUSTER_K > 1
    add_ctas(sum, buffers, i);
#else
    add_slices(sum, buffers, i);
#endif
    const int y = m + i / BN, x = n + i % BN;
    const long long at = y * ldc + x;
    if (y < M) write_piece(sum, C + at, D + at, N - x, alpha, beta, bias, x);
  }
#if CLUSTER_K > 1
  pgtune::cluster_sync();  // nobody ends while others read its sums
#endif
}
