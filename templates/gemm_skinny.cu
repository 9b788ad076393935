// SPDX-License-Identifier: MIT
// D = activation(alpha * op(A) * op(B) + beta * C + bias) where D has few rows or few columns: a matrix times a few
// vectors. The matrix is read once and everything else is small, so it goes from memory to registers by the shortest
// way, without shared memory and tensor cores, and is multiplied in float32.
//
// The matrix is "streamed". Its lines are the many columns of D (B's) or, where D has few columns, its rows (A's).
// Where lines lie along K in memory, the lanes of a warp share LINES of them, a vector of VEC_BYTES each; where they
// lie across, a lane has those of one vector. UNROLL vectors of a line are loaded before the first is multiplied.
// SLICED_K warps of a CTA and CLUSTER_K CTAs of a cluster share lines along K, taking turns. Partial sums are added in
// an order that is the same in every run: lanes, then warps, then CTAs.
//
// The few vectors are read as they are stored, or laid out by a kernel before (FEW_SOURCE): where lines lie along K, so
// do they then; else the elements of one step of k are neighbours, in float32, that every lane loads.
#include "device/copy/streamed_vector.cuh"
#include "device/epilogue/finished_element.cuh"
#include "device/ptx/cluster.cuh"
#include "device/ptx/programmatic_dependent_launch.cuh"
#include "device/ptx/shared_memory.cuh"
#include "device/rows/vector_access.cuh"
#include "device/scheduler/batch_grid.cuh"

namespace {

using pgtune::Element, pgtune::Format, pgtune::kFormatA, pgtune::kFormatB, pgtune::StreamedVector;

constexpr bool kStreamsB = STREAMS_B;
constexpr bool kAlongK = kStreamsB ? TRANS_B : !TRANS_A;     ///< the streamed operand's lines
constexpr bool kFewAlongK = kStreamsB ? !TRANS_A : TRANS_B;  ///< the other operand's few vectors
constexpr int kPerVector = VEC_BYTES / ELEM_BYTES;
constexpr int kThreadLines = kAlongK ? LINES : kPerVector;
constexpr int kWarpLines = kAlongK ? LINES : 32 * kPerVector;
constexpr int kCtaLines = LINE_WARPS * kWarpLines;
constexpr int kThreads = 32 * LINE_WARPS * SLICED_K;
constexpr int kStep = kAlongK ? 32 * kPerVector : 1;  ///< of k, from one of a thread's vectors to the next
constexpr int kSums = FEW * kCtaLines;                ///< elements of D that a CTA computes

constexpr Format kStreamedFormat = kStreamsB ? kFormatB : kFormatA, kFewFormat = kStreamsB ? kFormatA : kFormatB;

constexpr bool kPrepared = FEW_SOURCE == LABEL_prepared;
constexpr int kFewFours = (FEW + 3) / 4;  ///< of float32 in a step of k, where they are laid out so

/// An operand of `vectors` lines or few vectors, and `k_end` elements in each.
struct Operand {
  const char* at;
  long long ld;
  int vectors, k_end;
};

using Vectors = StreamedVector[UNROLL][kAlongK ? LINES : 1];
using Accumulators = float[FEW][kThreadLines];

/// Loads a thread's vectors from step `k` of its lines on, with zeros beyond K. Lines beyond the last are the last one
/// again; nobody stores their sums.
__device__ __forceinline__ void load(Vectors& to, const Operand& streamed, int line, int k) {
#pragma unroll
  for (int u = 0; u < UNROLL; ++u, k += kStep) {
#pragma unroll
    for (int l = 0; l < (kAlongK ? LINES : 1); ++l) {
      to[u][l] = StreamedVector::zero();
      if (k >= streamed.k_end) continue;
      const long long index = kAlongK ? min(line + l, streamed.vectors - 1) * streamed.ld + k
                                      : k * streamed.ld + min(line, streamed.vectors - kPerVector);
      to[u][l] = pgtune::load_streamed(streamed.at + index * ELEM_BYTES);
    }
  }
}

/// The elements of one of the few vectors that a vector of a line along K meets, from step `k` on.
__device__ __forceinline__ void read_along_k(float (&values)[kPerVector], const Operand& few, int f, int k) {
  if constexpr (kPrepared || FEW_IN_VECTORS) {
    const auto vector = pgtune::load_shared_by_many(few.at + (f * few.ld + k) * ELEM_BYTES);
    pgtune::widen_vector<kFewFormat>(values, vector);
  } else {
#pragma unroll
    for (int e = 0; e < kPerVector; ++e) {
      values[e] = pgtune::load_element<kFewFormat>(few.at, kFewAlongK ? f * few.ld + k + e : (k + e) * few.ld + f);
    }
  }
}

/// The few vectors' elements of one step of k.
__device__ __forceinline__ void read_step(float (&values)[kFewFours * 4], const Operand& few, int k) {
  if constexpr (kPrepared) {
#pragma unroll
    for (int i = 0; i < kFewFours * 4; i += 4) {
      asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(values[i]), "=f"(values[i + 1]), "=f"(values[i + 2]), "=f"(values[i + 3])
                   : "l"(few.at + (static_cast<long long>(k) * kFewFours * 4 + i) * 4));
    }
  } else {
#pragma unroll
    for (int f = 0; f < FEW; ++f) {
      values[f] = pgtune::load_element<kFewFormat>(few.at, kFewAlongK ? f * few.ld + k : k * few.ld + f);
    }
  }
}

__device__ __forceinline__ void add_products(float& sum, const float (&a)[kPerVector], const float (&b)[kPerVector]) {
#pragma unroll
  for (int e = 0; e < kPerVector; ++e) sum = fmaf(a[e], b[e], sum);
}

/// Adds the products of what load() has loaded and the few vectors. What there is less of, lines or vectors, is widened
/// first, so that the other is in registers one at a time.
__device__ __forceinline__ void multiply(Accumulators& acc, const Vectors& vectors, const Operand& few, int k) {
#pragma unroll
  for (int u = 0; u < UNROLL; ++u, k += kStep) {
    if (k >= few.k_end) break;
    if constexpr (!kAlongK) {
      float values[kFewFours * 4], streamed[kPerVector];
      pgtune::widen_vector<kStreamedFormat>(streamed, vectors[u][0]);
      read_step(values, few, k);
#pragma unroll
      for (int i = 0; i < FEW * kPerVector; ++i) {
        float& sum = acc[i / kPerVector][i % kPerVector];
        sum = fmaf(values[i / kPerVector], streamed[i % kPerVector], sum);
      }
    } else if constexpr (FEW <= LINES) {
      float values[FEW][kPerVector];
#pragma unroll
      for (int f = 0; f < FEW; ++f) read_along_k(values[f], few, f, k);
#pragma unroll
      for (int l = 0; l < LINES; ++l) {
        float streamed[kPerVector];
        pgtune::widen_vector<kStreamedFormat>(streamed, vectors[u][l]);
#pragma unroll
        for (int f = 0; f < FEW; ++f) add_products(acc[f][l], values[f], streamed);
      }
    } else {
      float streamed[LINES][kPerVector];
#pragma unroll
      for (int l = 0; l < LINES; ++l) pgtune::widen_vector<kStreamedFormat>(streamed[l], vectors[u][l]);
#pragma unroll
      for (int f = 0; f < FEW; ++f) {
        float values[kPerVector];
        read_along_k(values, few, f, k);
#pragma unroll
        for (int l = 0; l < LINES; ++l) add_products(acc[f][l], values, streamed[l]);
      }
    }
  }
}

/// Adds kCount values of each lane over the lanes of a warp. A step halves the values that a lane still has: the lane
/// hands the others to its partner. Returns the index of the first of the kCount / 32 sums, or one, that this lane has
/// in the end.
template <int kCount>
__device__ __forceinline__ int reduce_over_lanes(float (&values)[kCount]) {
  static_assert((kCount & (kCount - 1)) == 0, "halved in every step");
  int first = 0, count = kCount;
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    const bool upper = threadIdx.x & distance;
    if (count > 1) {
      count /= 2;
#pragma unroll
      for (int i = 0; i < kCount / 2; ++i) {
        if (i >= count) break;
        const float handed = upper ? values[i] : values[i + count];
        values[i] = (upper ? values[i + count] : values[i]) + __shfl_xor_sync(0xffffffffu, handed, distance);
      }
      if (upper) first += count;
    } else {
      values[0] += __shfl_xor_sync(0xffffffffu, values[0], distance);
    }
  }
  return first;
}

constexpr int power_of_two_from(int count) {
  int power = 1;
  while (power < count) power *= 2;
  return power;
}

/// Where a CTA keeps the sum of vector `f` and its own line `line`: neighbours in a row of D are neighbours here.
__device__ __forceinline__ int place_of(int f, int line) { return kStreamsB ? f * kCtaLines + line : line * FEW + f; }

/// Writes a warp's sums where those of its slice belong.
__device__ __forceinline__ void keep_sums(float* sums, const Accumulators& acc, int warp_line) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if constexpr (kAlongK) {
    constexpr int kCount = FEW * LINES, kPadded = power_of_two_from(kCount);
    float values[kPadded] = {};
#pragma unroll
    for (int i = 0; i < kCount; ++i) values[i] = acc[i / LINES][i % LINES];
    const int first = reduce_over_lanes(values);
#pragma unroll
    for (int i = 0; i < (kPadded + 31) / 32; ++i) {
      if (first + i < kCount) sums[place_of((first + i) / LINES, warp_line + (first + i) % LINES)] = values[i];
    }
  } else {
#pragma unroll
    for (int f = 0; f < FEW; ++f) {
#pragma unroll
      for (int e = 0; e < kPerVector; ++e) sums[place_of(f, warp_line + lane * kPerVector + e)] = acc[f][e];
    }
  }
}

/// Loads a float of the shared memory of a CTA of the cluster.
__device__ __forceinline__ float load_shared_of(unsigned rank, const float* here) {
  float value;
  asm volatile("ld.shared::cluster.f32 %0, [%1];"
               : "=f"(value)
               : "r"(pgtune::map_shared_address(pgtune::shared_address(here), rank))
               : "memory");
  return value;
}

}  // namespace

#if FEW_SOURCE == LABEL_prepared
/// Lays the few vectors out in the workspace, `few_bytes` for each matrix of the batch. Where lines lie along K,
/// `few_ld` is the pitch of the vectors.
extern "C" __global__ void lay_out_few(const char* A, const char* B, char* workspace, int K, long long lda,
                                       long long ldb, long long stride_a, long long stride_b, long long few_ld,
                                       long long few_bytes) {
#if OVERLAPS
  pgtune::griddepcontrol_launch_dependents();
#endif
  const long long ld = kStreamsB ? lda : ldb;
  const unsigned matrix = MATRIX_OF_BATCH(y, (static_cast<long long>(K) * FEW - 1) / 256 + 1);
  const char* const from = kStreamsB ? A + matrix * stride_a * ELEM_BYTES : B + matrix * stride_b * ELEM_BYTES;
  char* const to = workspace + matrix * few_bytes;
  const unsigned cta = CTA_OF_MATRIX((static_cast<long long>(K) * FEW - 1) / 256 + 1);
  const long long i = static_cast<long long>(cta) * 256 + threadIdx.x;
  if (i >= static_cast<long long>(K) * FEW) return;
  const long long k = kFewAlongK ? i % K : i / FEW, f = kFewAlongK ? i / K : i % FEW;
  const long long index = kFewAlongK ? f * ld + k : k * ld + f;
  if constexpr (kAlongK) {
    using Raw = pgtune::Bits<ELEM_BYTES>::Type;
    reinterpret_cast<Raw*>(to)[f * few_ld + k] = reinterpret_cast<const Raw*>(from)[index];
  } else {
    reinterpret_cast<float*>(to)[k * kFewFours * 4 + f] = pgtune::load_element<kFewFormat>(from, index);
  }
}
#endif

/// `lines` are the streamed operand's: rows of D where STREAMS_B is 0, else columns.
extern "C" __global__ void __launch_bounds__(kThreads, 1)
    gemm_skinny(const char* A, const char* B, const Element* C, Element* D, int lines, int K, long long lda,
                long long ldb, long long ldc, long long stride_a, long long stride_b, long long stride_c, float alpha,
                float beta, const void* bias, const char* workspace, long long few_ld, long long few_bytes) {
  extern __shared__ __align__(16) float sums[];  // of each slice
  const unsigned matrix = MATRIX_OF_BATCH(y, ((lines - 1) / kCtaLines + 1) * CLUSTER_K);
  A += matrix * stride_a * ELEM_BYTES;
  B += matrix * stride_b * ELEM_BYTES;
  const Operand streamed{kStreamsB ? B : A, kStreamsB ? ldb : lda, lines, K};
  const Operand few = kPrepared ? Operand{workspace + matrix * few_bytes, few_ld, FEW, K}
                                : Operand{kStreamsB ? A : B, kStreamsB ? lda : ldb, FEW, K};

  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int warp_line = warp % LINE_WARPS * kWarpLines, slice = warp / LINE_WARPS;
  const unsigned cta = CTA_OF_MATRIX(((lines - 1) / kCtaLines + 1) * CLUSTER_K);
  const int rank = static_cast<int>(cta) % CLUSTER_K;
  const int first_line = static_cast<int>(cta) / CLUSTER_K * kCtaLines;
  const int line = first_line + warp_line + (kAlongK ? 0 : lane * kPerVector);
  constexpr int kTurn = kStep * UNROLL;  // of k, that a warp loads at once
  int k = (rank * SLICED_K + slice) * kTurn + (kAlongK ? lane * kPerVector : 0);

  Vectors vectors;
  Accumulators acc = {};
#if OVERLAPS
  pgtune::griddepcontrol_launch_dependents();
#endif
  load(vectors, streamed, line, k);
#if OVERLAPS
  pgtune::griddepcontrol_wait();  // for the few vectors, and in a chain for what else the launch before writes: never B
#endif
#pragma unroll 1
  while (k < K) {
    multiply(acc, vectors, few, k);
    k += kTurn * SLICED_K * CLUSTER_K;
    if (k < K) load(vectors, streamed, line, k);
  }
  keep_sums(sums + slice * kSums, acc, warp_line);
  __syncthreads();

  if constexpr (CLUSTER_K > 1) {
    for (int i = static_cast<int>(threadIdx.x); SLICED_K > 1 && i < kSums; i += kThreads) {
      for (int s = 1; s < SLICED_K; ++s) sums[i] += sums[s * kSums + i];
    }
    pgtune::cluster_sync();
  }
  C += matrix * stride_c;
  D += matrix * stride_c;
#pragma unroll 1
  for (int i = rank * kThreads + static_cast<int>(threadIdx.x); i < kSums; i += kThreads * CLUSTER_K) {
    const int f = kStreamsB ? i / kCtaLines : i % FEW, of_line = first_line + (kStreamsB ? i % kCtaLines : i / FEW);
    if (of_line >= lines) continue;
    float sum = 0;
#pragma unroll
    for (int part = 0; part < (CLUSTER_K > 1 ? CLUSTER_K : SLICED_K); ++part) {
      if constexpr (CLUSTER_K > 1) {
        sum += load_shared_of(part, sums + i);
      } else {
        sum += sums[part * kSums + i];
      }
    }
    const int row = kStreamsB ? f : of_line, column = kStreamsB ? of_line : f;
    const long long at = row * ldc + column;
    D[at] = pgtune::narrowed(pgtune::finished_value(sum, C + at, alpha, beta, bias, column));
  }
  if constexpr (CLUSTER_K > 1) pgtune::cluster_sync();  // nobody ends while others read its sums
}
