// SPDX-License-Identifier: MIT
// D = alpha * op(A) * op(B) + beta * C in strict fp32 on CUDA cores, for products so small that they spend their time
// waiting for memory: long k-blocks whose loads are all in flight at once, and few barriers.
//
// A CTA computes a BM x BN tile. All its threads load a k-block of BK steps into registers and from there into shared
// memory, in lines of one step of k, while SLICED_K groups of threads compute the k-block before, each its share of the
// steps (sliced-K). At the end the groups reduce their accumulators through shared memory. There are two stages and one
// barrier a k-block.
namespace {

constexpr int kGroup = (BM / TM) * (BN / TN);  ///< threads that compute the tile for a share of k
constexpr int kThreads = SLICED_K * kGroup;
constexpr int kSteps = BK / SLICED_K;
constexpr int kColumnsOfThreads = BN / TN;

/// One operand's k-blocks: kOuter rows (or columns) of D, kAlongK where neighbours in memory are steps of k.
template <int kOuter, bool kAlongK, int kVec>
struct Operand {
  static constexpr int kLine = kOuter + 4;  ///< padded: lines start in different banks, at multiples of 16 bytes
  static constexpr int kFloats = BK * kLine;
  static constexpr int kInner = kAlongK ? BK : kOuter;  ///< extent of a k-block along memory
  static constexpr int kPieces = kOuter * BK / kVec / kThreads;
  static_assert(kPieces * kVec * kThreads == kOuter * BK, "threads load the same number of pieces");

  float staged[kPieces][kVec];

  /// Where the i-th piece lies in the k-block: along memory and across.
  static __device__ __forceinline__ int inner(int i) {
    return (static_cast<int>(threadIdx.x) + i * kThreads) % (kInner / kVec) * kVec;
  }
  static __device__ __forceinline__ int across(int i) {
    return (static_cast<int>(threadIdx.x) + i * kThreads) / (kInner / kVec);
  }

  /// Loads the k-block that starts at step `k`, with zeros beyond the matrix. Rows are whole vectors apart.
  __device__ __forceinline__ void load(const float* from, long long ld, int outer, int k, int outer_end, int k_end) {
    const int inner_first = kAlongK ? k : outer, across_first = kAlongK ? outer : k;
    const int inner_end = kAlongK ? k_end : outer_end, across_end = kAlongK ? outer_end : k_end;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const int x = inner_first + inner(i), y = across_first + across(i);
      const float* const at = from + y * ld + x;
      bool whole = false;
      if constexpr (kVec == 4) {
        whole = y < across_end && x + 4 <= inner_end;
        if (whole) {
          const float4 four = __ldg(reinterpret_cast<const float4*>(at));
          staged[i][0] = four.x, staged[i][1] = four.y, staged[i][2] = four.z, staged[i][3] = four.w;
        }
      }
#pragma unroll
      for (int e = 0; !whole && e < kVec; ++e)
        staged[i][e] = y < across_end && x + e < inner_end ? __ldg(at + e) : 0.0f;
    }
  }

  __device__ __forceinline__ void store(float* lines) const {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
#pragma unroll
      for (int e = 0; e < kVec; ++e) {
        const int step = kAlongK ? inner(i) + e : across(i), outer = kAlongK ? across(i) : inner(i) + e;
        lines[step * kLine + outer] = staged[i][e];
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

using OperandA = Operand<BM, TRANS_A == 0, A_VEC>;
using OperandB = Operand<BN, TRANS_B == 1, B_VEC>;
constexpr int kBuffer = OperandA::kFloats + OperandB::kFloats;

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads)
    sgemm_small(const float* A, const float* B, const float* C, float* D, int M, int N, int K, long long lda,
                long long ldb, long long ldc, long long stride_a, long long stride_b, long long stride_c, float alpha,
                float beta) {
  extern __shared__ __align__(16) float buffers[];
  const int tiles_n = (N - 1) / BN + 1;
  const int m = static_cast<int>(blockIdx.x) / tiles_n * BM, n = static_cast<int>(blockIdx.x) % tiles_n * BN;
  A += blockIdx.y * stride_a;
  B += blockIdx.y * stride_b;

  const int slice = static_cast<int>(threadIdx.x) / kGroup, thread = static_cast<int>(threadIdx.x) % kGroup;
  const int row = thread / kColumnsOfThreads * TM, column = thread % kColumnsOfThreads * TN;
  OperandA a;
  OperandB b;
  float acc[TM][TN] = {};
  a.load(A, lda, m, 0, M, K);
  b.load(B, ldb, n, 0, N, K);
  a.store(buffers);
  b.store(buffers + OperandA::kFloats);
  __syncthreads();
  float* now = buffers;
  float* next = buffers + kBuffer;
#pragma unroll 1
  for (int k = BK; k < K + BK; k += BK) {
    if (k < K) {
      a.load(A, lda, m, k, M, K);
      b.load(B, ldb, n, k, N, K);
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
    if (k < K) {
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
    for (int j = 0; j < TN; ++j) buffers[(slice * BM + row + i) * BN + column + j] = acc[i][j];
  }
  __syncthreads();
  C += blockIdx.y * stride_c;
  D += blockIdx.y * stride_c;
#pragma unroll
  for (int i = static_cast<int>(threadIdx.x); i < BM * BN; i += kThreads) {
    const int y = m + i / BN, x = n + i % BN;
    if (y >= M || x >= N) continue;
    float sum = buffers[i];
#pragma unroll
    for (int s = 1; s < SLICED_K; ++s) sum += buffers[s * BM * BN + i];
    const long long at = y * ldc + x;
    D[at] = beta == 0.0f ? alpha * sum : fmaf(beta, C[at], alpha * sum);
  }
}
