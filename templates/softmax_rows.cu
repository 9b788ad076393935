// SPDX-License-Identifier: MIT
// Softmax of rows: THREADS_PER_ROW threads share a row and ROWS_PER_CTA rows a CTA. With KEEP=registers a row is read
// once and stays in registers; with KEEP=online its largest element and its sum come from one pass (Milakov and
// Gimelshein 2018), and a second one, which mostly finds the row in L2, writes.
#include "device/rows/elements.cuh"
#include "device/rows/row_group.cuh"

namespace pgtune {

constexpr bool kKeep = KEEP == LABEL_registers, kLoadStreaming = LOAD_HINT == LABEL_evict_first,
               kStoreStreaming = STORE_HINT == LABEL_evict_first;
constexpr int kVectors = COLUMNS / kPerVector;  // of a row
constexpr int kChunks = (kVectors + kThreadsPerRow - 1) / kThreadsPerRow;
constexpr float kLowest = -3.402823466e38f;

/// exp(x - largest) by the GPU's own power of two: its argument is rounded twice, so the error is some 2^-23 for each
/// unit of x - largest.
__device__ __forceinline__ float exponential(float x, float largest) { return __expf(x - largest); }

__device__ __forceinline__ void softmax_in_registers(const void* x, void* y, long long first, bool inside, int thread) {
  float values[kChunks][kPerVector];
  Vector loaded[kChunks];
#pragma unroll
  for (int c = 0; c < kChunks; ++c) {
    const int at = c * kThreadsPerRow + thread;
    if (inside && at < kVectors) loaded[c] = load_vector<kLoadStreaming>(x, first + at);
  }
  float largest = kLowest;
#pragma unroll
  for (int c = 0; c < kChunks; ++c) {
    const bool any = inside && c * kThreadsPerRow + thread < kVectors;
#pragma unroll
    for (int i = 0; i < kPerVector; ++i) {
      values[c][i] = any ? element_of(loaded[c], i) : kLowest;
      largest = fmaxf(largest, values[c][i]);
    }
  }
  largest = combine_row(largest, Maximum());
  float sum = 0;
#pragma unroll
  for (int c = 0; c < kChunks; ++c) {
    const bool any = c * kThreadsPerRow + thread < kVectors;
#pragma unroll
    for (int i = 0; i < kPerVector; ++i) {
      values[c][i] = any ? exponential(values[c][i], largest) : 0;
      sum += values[c][i];
    }
  }
  const float factor = 1.0f / combine_row(sum, Sum());
#pragma unroll
  for (int c = 0; c < kChunks; ++c) {
    const int at = c * kThreadsPerRow + thread;
    if (!inside || at >= kVectors) continue;
#pragma unroll
    for (int i = 0; i < kPerVector; ++i) values[c][i] *= factor;
    store_vector<kStoreStreaming>(y, first + at, vector_of(values[c]));
  }
}

__device__ __forceinline__ void softmax_online(const void* x, void* y, long long first, bool inside, int thread) {
  float largest = kLowest, sum = 0;
#pragma unroll 4
  for (int at = thread; at < kVectors && inside; at += kThreadsPerRow) {
    const Vector vector = load_vector<false>(x, first + at);
    float higher = largest;
#pragma unroll
    for (int i = 0; i < kPerVector; ++i) higher = fmaxf(higher, element_of(vector, i));
    sum *= exponential(largest, higher);
    largest = higher;
#pragma unroll
    for (int i = 0; i < kPerVector; ++i) sum += exponential(element_of(vector, i), largest);
  }
  const float highest = combine_row(largest, Maximum());
  const float factor = 1.0f / combine_row(sum * exponential(largest, highest), Sum());
#pragma unroll 4
  for (int at = thread; at < kVectors && inside; at += kThreadsPerRow) {
    const Vector vector = load_vector<kLoadStreaming>(x, first + at);
    float values[kPerVector];
#pragma unroll
    for (int i = 0; i < kPerVector; ++i) values[i] = exponential(element_of(vector, i), highest) * factor;
    store_vector<kStoreStreaming>(y, first + at, vector_of(values));
  }
}

}  // namespace pgtune

extern "C" __global__ void __launch_bounds__(THREADS_PER_ROW* ROWS_PER_CTA)
    softmax_rows(const void* x, void* y, long long rows) {
  using namespace pgtune;
  const int thread = threadIdx.x % kThreadsPerRow;
  const long long row = static_cast<long long>(blockIdx.x) * kRowsPerCta + threadIdx.x / kThreadsPerRow;
  const bool inside = row < rows;
  const long long first = row * kVectors;
  if constexpr (kKeep) {
    softmax_in_registers(x, y, first, inside, thread);
  } else {
    softmax_online(x, y, first, inside, thread);
  }
}
