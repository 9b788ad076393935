#include "device/rows/elements.cuh"
#include "device/rows/row_group.cuh"

namespace pgtune {

constexpr int kVectors = COLUMNS / kPerVector;  // of a row
constexpr int kChunks = (kVectors + kThreadsPerRow - 1) / kThreadsPerRow;

// By a plain load: the kernel writes R itself, so it must not come through the cache for what nobody writes.
__device__ __forceinline__ Vector load_written(const void* array, long long index) {
  Vector vector;
  vector.bits = static_cast<const Bits<VEC_BYTES>::Type*>(array)[index];
  return vector;
}

__device__ __forceinline__ void load_sum(float (&sum)[kPerVector], const void* x, const void* r, long long at) {
  const Vector added = load_vector<false>(x, at), before = load_written(r, at);
#pragma unroll
  for (int i = 0; i < kPerVector; ++i) sum[i] = element_of(before, i) + element_of(added, i);
}

__device__ __forceinline__ void store_both(void* r, void* y, const void* w, long long first, int at,
                                           const float (&sum)[kPerVector], float factor) {
  store_vector<false>(r, first + at, vector_of(sum));
  const Vector weights = load_vector<false>(w, at);
  float normed[kPerVector];
#pragma unroll
  for (int i = 0; i < kPerVector; ++i) normed[i] = sum[i] * factor * element_of(weights, i);
  store_vector<false>(y, first + at, vector_of(normed));
}

}  // namespace pgtune

extern "C" __global__ void __launch_bounds__(THREADS_PER_ROW* ROWS_PER_CTA)
    add_rmsnorm_rows(const void* x, const void* w, void* r, void* y, long long rows, float eps) {
  using namespace pgtune;
  const int thread = threadIdx.x % kThreadsPerRow;
  const long long row = static_cast<long long>(blockIdx.x) * kRowsPerCta + threadIdx.x / kThreadsPerRow;
  const bool inside = row < rows;
  const long long first = row * kVectors;
  float sums[kChunks][kPerVector];
  float squares = 0;
#pragma unroll
  for (int c = 0; c < kChunks; ++c) {
    const int at = c * kThreadsPerRow + thread;
    if (inside && at < kVectors) load_sum(sums[c], x, r, first + at);
  }
#pragma unroll
  for (int c = 0; c < kChunks; ++c) {
    if (!inside || c * kThreadsPerRow + thread >= kVectors) continue;
#pragma unroll
    for (int i = 0; i < kPerVector; ++i) squares += sums[c][i] * sums[c][i];
  }
  const float factor = rsqrtf(combine_row(squares, Sum()) / COLUMNS + eps);
#pragma unroll
  for (int c = 0; c < kChunks; ++c) {
    const int at = c * kThreadsPerRow + thread;
    if (inside && at < kVectors) store_both(r, y, w, first, at, sums[c], factor);
  }
}
