// SPDX-License-Identifier: MIT
// X + R normalised by rows: THREADS_PER_ROW threads share a row and ROWS_PER_CTA rows a CTA. With KEEP=registers a row
// of sums stays in registers; with KEEP=again X and R are read a second time, mostly from L2.
#include "device/rows/elements.cuh"
#include "device/rows/row_group.cuh"

namespace pgtune {

constexpr bool kKeep = KEEP == LABEL_registers, kLoadStreaming = LOAD_HINT == LABEL_evict_first,
               kStoreStreaming = STORE_HINT == LABEL_evict_first;
constexpr int kVectors = COLUMNS / kPerVector;  // of a row
constexpr int kChunks = (kVectors + kThreadsPerRow - 1) / kThreadsPerRow;

/// A vector of X + R in float32.
template <bool kStreaming>
__device__ __forceinline__ void load_sum(float (&sum)[kPerVector], const void* x, const void* r, long long at) {
  const Vector left = load_vector<kStreaming>(x, at), right = load_vector<kStreaming>(r, at);
#pragma unroll
  for (int i = 0; i < kPerVector; ++i) sum[i] = element_of(left, i) + element_of(right, i);
}

__device__ __forceinline__ void store_both(void* h, void* y, const void* w, long long first, int at,
                                           const float (&sum)[kPerVector], float factor) {
  store_vector<kStoreStreaming>(h, first + at, vector_of(sum));
  const Vector weights = load_vector<false>(w, at);
  float normed[kPerVector];
#pragma unroll
  for (int i = 0; i < kPerVector; ++i) normed[i] = sum[i] * factor * element_of(weights, i);
  store_vector<kStoreStreaming>(y, first + at, vector_of(normed));
}

__device__ __forceinline__ float factor_of(float squares, float eps) {
  return rsqrtf(combine_row(squares, Sum()) / COLUMNS + eps);
}

}  // namespace pgtune

extern "C" __global__ void __launch_bounds__(THREADS_PER_ROW* ROWS_PER_CTA)
    rmsnorm_rows(const void* x, const void* r, const void* w, void* h, void* y, long long rows, float eps) {
  using namespace pgtune;
  const int thread = threadIdx.x % kThreadsPerRow;
  const long long row = static_cast<long long>(blockIdx.x) * kRowsPerCta + threadIdx.x / kThreadsPerRow;
  const bool inside = row < rows;
  const long long first = row * kVectors;
  float squares = 0;
  if constexpr (kKeep) {
    float sums[kChunks][kPerVector];
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      const int at = c * kThreadsPerRow + thread;
      if (inside && at < kVectors) load_sum<kLoadStreaming>(sums[c], x, r, first + at);
    }
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      if (!inside || c * kThreadsPerRow + thread >= kVectors) continue;
#pragma unroll
      for (int i = 0; i < kPerVector; ++i) squares += sums[c][i] * sums[c][i];
    }
    const float factor = factor_of(squares, eps);
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      const int at = c * kThreadsPerRow + thread;
      if (inside && at < kVectors) store_both(h, y, w, first, at, sums[c], factor);
    }
  } else {
    float sum[kPerVector];
#pragma unroll 4
    for (int at = thread; at < kVectors && inside; at += kThreadsPerRow) {
      load_sum<false>(sum, x, r, first + at);
#pragma unroll
      for (int i = 0; i < kPerVector; ++i) squares += sum[i] * sum[i];
    }
    const float factor = factor_of(squares, eps);
#pragma unroll 4
    for (int at = thread; at < kVectors && inside; at += kThreadsPerRow) {
      load_sum<kLoadStreaming>(sum, x, r, first + at);
      store_both(h, y, w, first, at, sum, factor);
    }
  }
}
