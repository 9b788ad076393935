// SPDX-License-Identifier: MIT
// Buffers of operations: elements with up to four indices at any strides, filled, compared and summed up. Each kernel
// walks over memory, so that what lies between elements is seen too.
#pragma once

#include "kernels/comparison.cuh"
#include "kernels/data.cuh"

// Layout of pgtune::gpu::Tensor: dimensions of more than one element from the largest stride to the smallest.
struct Tensor {
  i64 extent[4], stride[4], packed[4];  // packed: what the index counts for in the packed element number
  i64 stored;                           // elements of memory
  int rank, type;
};

// The packed number of the element at place `at` in memory; -1 where there is none. Division by 32 bits, which nearly
// all buffers do with, is several times faster.
__device__ inline i64 packed_index(const Tensor& t, i64 at) {
  i64 index = 0;
  if (t.stored <= 0xffffffff) {
    u32 rest = static_cast<u32>(at);
    for (int i = 0; i < t.rank; ++i) {
      const u32 stride = static_cast<u32>(t.stride[i]), coordinate = rest / stride;
      if (coordinate >= t.extent[i]) return -1;
      rest -= coordinate * stride;
      index += coordinate * t.packed[i];
    }
    return rest == 0 ? index : -1;
  }
  for (int i = 0; i < t.rank; ++i) {
    const i64 coordinate = at / t.stride[i];
    if (coordinate >= t.extent[i]) return -1;
    at -= coordinate * t.stride[i];
    index += coordinate * t.packed[i];
  }
  return at == 0 ? index : -1;
}

// Numbered as pgtune::FillKind, as far as they are filled here.
enum FillKind { kFillData, kFillNormal, kFillUniform, kFillConstant, kFillIntegers };

__device__ inline float fill_value(u64 bits, int kind, double first, double second, int distribution, float range) {
  switch (kind) {
    case kFillNormal:
      return static_cast<float>(first + second * data_value(bits, kNormal));
    case kFillUniform:
      return static_cast<float>(first + (second - first) * (0.5 + 0.5 * data_value(bits, kUniform)));
    case kFillConstant:
      return static_cast<float>(first);
    case kFillIntegers: {
      const double count = second - first + 1;
      const double step = floor(static_cast<double>(bits >> 11) * 0x1p-53 * count);
      return static_cast<float>(first + (step < count ? step : count - 1));
    }
    default: {
      const float value = data_value(bits, distribution);
      return range > 0 ? whole_number(value, distribution, range) : value;
    }
  }
}

// Equal seeds give equal elements whatever the strides; the padding stays as it is.
extern "C" __global__ void fill_tensor(void* memory, Tensor t, int kind, double first, double second, u64 seed,
                                       int distribution, float range) {
#pragma unroll 1
  for (i64 at = global_thread(); at < t.stored; at += thread_count()) {
    const i64 index = packed_index(t, at);
    if (index < 0) continue;
    const u64 bits = mix(seed + (static_cast<u64>(index) + 1) * 0x9e3779b97f4a7c15ull);
    store_element(memory, at, t.type, fill_value(bits, kind, first, second, distribution, range));
  }
}

// Layout of pgtune::gpu::PointerBatch: runs of `count` addresses, each `step` bytes behind the one before it, repeated
// from `stride` bytes further on.
struct PointerBatch {
  u64 first[64];
  i64 step[64], count[64], stride[64], repeats[64], at[64];  // at: number of the run's first pointer in the array
};
// A CTA a run.
extern "C" __global__ void fill_pointers(u64* pointers, PointerBatch runs) {
  const u64 first = runs.first[blockIdx.x];
  const i64 step = runs.step[blockIdx.x], count = runs.count[blockIdx.x], stride = runs.stride[blockIdx.x];
  u64* const to = pointers + runs.at[blockIdx.x];
#pragma unroll 1
  for (i64 i = threadIdx.x; i < count * runs.repeats[blockIdx.x]; i += blockDim.x)
    to[i] = first + static_cast<u64>(i / count * stride + i % count * step);
}

// Order-free checksum of addresses by their distance from `from`: equal wherever the buffer lies that they lead into.
extern "C" __global__ void checksum_pointers(const u64* pointers, i64 count, u64 from, u64* sum) {
  u64 local = 0;
#pragma unroll 1
  for (i64 i = global_thread(); i < count; i += thread_count())
    local +=
        mix((static_cast<u64>(i) << 32 ^ static_cast<u64>(i) >> 32) + (pointers[i] - from) + 0x9e3779b97f4a7c15ull);
  if (local != 0) atomicAdd(sum, local);
}

// `first`: packed number of the tensor's first element among those of all outputs. `result`: right values, or residuals
// where the bound is of these.
extern "C" __global__ void compare_tensor(const void* memory, Tensor t, const double* result, const float* scale,
                                          i64 first, Bound bound, double not_finite_ratio, u32 pattern,
                                          Comparison* out) {
  Findings findings(bound, not_finite_ratio);
#pragma unroll 1
  for (i64 at = global_thread(); at < t.stored; at += thread_count()) {
    const i64 index = packed_index(t, at);
    if (index < 0) {
      findings.see_padding(!untouched(memory, at, t.type, pattern));
    } else {
      const double value = load_element(memory, at, t.type);
      const u64 packed = static_cast<u64>(first + index);
      if (findings.of_residual()) {
        findings.judge_residual(value, result[packed], scale[packed], packed);
      } else {
        findings.judge(value, result[packed], scale[packed], packed);
      }
    }
  }
  findings.add_to(out);
}

// Order-free checksum of the elements that somebody judges: a wrapping sum of mixed (position, bits) pairs.
extern "C" __global__ void sum_tensor(const void* memory, Tensor t, const float* scale, i64 first, u64* sum) {
  u64 local = 0;
#pragma unroll 1
  for (i64 at = global_thread(); at < t.stored; at += thread_count()) {
    const i64 index = packed_index(t, at);
    if (index < 0 || scale[first + index] < 0) continue;
    const int bytes = element_bytes(t.type);
    const u32 bits = bytes == 4   ? static_cast<const u32*>(memory)[at]
                     : bytes == 2 ? static_cast<const unsigned short*>(memory)[at]
                                  : static_cast<const unsigned char*>(memory)[at];
    const u64 i = static_cast<u64>(first + index);
    local += mix((i << 32 ^ i >> 32) + bits + 0x9e3779b97f4a7c15ull);
  }
  for (int offset = 16; offset > 0; offset /= 2) local += __shfl_down_sync(0xffffffffu, local, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, local);
}

// The right values, rounded to the tensor's type, each `shift` elements further on; zero instead where `zero`.
extern "C" __global__ void store_result(void* memory, Tensor t, const double* result, i64 first, i64 elements,
                                        i64 shift, int zero) {
#pragma unroll 1
  for (i64 at = global_thread(); at < t.stored; at += thread_count()) {
    const i64 index = packed_index(t, at);
    if (index < 0) continue;
    const double value = zero ? 0 : result[first + (index + shift) % elements];
    store_element(memory, at, t.type, static_cast<float>(value));
  }
}

// Zeroes each sixteenth piece of so many neighbouring elements, the first of them too.
extern "C" __global__ void clear_pieces(void* memory, Tensor t, i64 piece) {
#pragma unroll 1
  for (i64 at = global_thread(); at < t.stored; at += thread_count()) {
    const i64 index = packed_index(t, at);
    if (index >= 0 && index / piece % 16 == 0) store_element(memory, at, t.type, 0.0f);
  }
}

// Float64 values that still have all bits set, as before the reference ran.
extern "C" __global__ void count_unwritten(const u64* values, i64 count, u64* unwritten) {
  u64 local = 0;
#pragma unroll 1
  for (i64 i = global_thread(); i < count; i += thread_count()) local += values[i] == ~0ull;
  if (local != 0) atomicAdd(unwritten, local);
}
