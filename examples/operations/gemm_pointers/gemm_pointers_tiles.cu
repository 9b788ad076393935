#include "device/rows/elements.cuh"

namespace pgtune {

constexpr int kAcross = BN / kPerVector, kThreads = BM / TM * kAcross;  // threads beside each other, and all of them
constexpr long long kVectors = COLUMNS / kPerVector, kDeep = DEPTH / kPerVector;  // of a row of B and C, and of A

}  // namespace pgtune

extern "C" __global__ void __launch_bounds__(pgtune::kThreads)
    gemm_pointers_tiles(const void* const* as, const void* const* bs, void* const* cs, long long rows) {
  using namespace pgtune;
  __shared__ float tile[BM][BK];
  const void *const a = as[blockIdx.z], *const b = bs[blockIdx.z];
  const long long first_row = static_cast<long long>(blockIdx.y) * BM;
  const long long column = static_cast<long long>(blockIdx.x) * kAcross + threadIdx.x % kAcross;  // in vectors
  const int own_row = threadIdx.x / kAcross * TM;
  float sums[TM][kPerVector] = {};
  for (int from = 0; from < DEPTH; from += BK) {
    __syncthreads();
    for (int i = threadIdx.x; i < BM * BK / kPerVector; i += kThreads) {
      const int row = i / (BK / kPerVector), k = i % (BK / kPerVector) * kPerVector;
      const bool inside = first_row + row < rows && from + k < DEPTH;
      Vector vector;
      vector.bits = {};
      if (inside) vector = load_vector<false>(a, (first_row + row) * kDeep + (from + k) / kPerVector);
#pragma unroll
      for (int j = 0; j < kPerVector; ++j) tile[row][k + j] = element_of(vector, j);
    }
    __syncthreads();
    if (column >= kVectors) continue;
#pragma unroll 4
    for (int k = 0; k < BK && from + k < DEPTH; ++k) {
      const Vector vector = load_vector<false>(b, (from + k) * kVectors + column);
#pragma unroll
      for (int m = 0; m < TM; ++m) {
#pragma unroll
        for (int j = 0; j < kPerVector; ++j) sums[m][j] += tile[own_row + m][k] * element_of(vector, j);
      }
    }
  }
  if (column >= kVectors) return;
#pragma unroll
  for (int m = 0; m < TM; ++m) {
    const long long row = first_row + own_row + m;
    if (row < rows) store_vector<false>(cs[blockIdx.z], row * kVectors + column, vector_of(sums[m]));
  }
}
