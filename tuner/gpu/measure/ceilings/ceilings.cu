// SPDX-License-Identifier: MIT
// Kernels that reach for one limit of the GPU each: DRAM, L2, shared memory, fp32 arithmetic. Compiled by NVRTC when
// the ceilings are asked for; includes nothing. ceilings.hpp holds the sizes that appear here as numbers.
using u32 = unsigned int;
using u64 = unsigned long long;

// Words that differ from each other in about half of their bits: equal ones would toggle no wires and draw less power
// than real data. The mixing is the finaliser of MurmurHash3.
extern "C" __global__ void ceiling_fill(u32* words, u64 count) {
#pragma unroll 1
  for (u64 i = blockIdx.x * static_cast<u64>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<u64>(gridDim.x) * blockDim.x) {
    u32 x = static_cast<u32>(i) * 0x9e3779b9u + 1;
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    words[i] = x;
  }
}

// A CTA of 256 threads copies 16 KiB, once: streaming loads and stores, four in flight a thread.
extern "C" __global__ void __launch_bounds__(256) ceiling_copy(const uint4* from, uint4* to) {
  const u64 first = blockIdx.x * 1024ull + threadIdx.x;
  uint4 value[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) value[i] = __ldcs(from + first + i * 256);
#pragma unroll
  for (int i = 0; i < 4; ++i) __stcs(to + first + i * 256, value[i]);
}

// cg keeps the line in L2 and out of L1, which together over all SMs could hold the whole region.
__device__ inline uint4 load_l2(const uint4* from) {
  uint4 value;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(from));
  return value;
}

// A CTA of 1024 threads reads `steps` pieces of 64 KiB one after the other, round the region's `pieces`. CTAs start
// evenly spread over it, so that all of L2 is busy all the time. `never` is a value the sum does not have, which the
// compiler cannot know.
extern "C" __global__ void __launch_bounds__(1024)
    ceiling_l2(const uint4* region, u32 pieces, u32 steps, u64 never, u32* out) {
  u32 piece = static_cast<u32>(static_cast<u64>(blockIdx.x) * pieces / gridDim.x);
  u32 sum = 0;
#pragma unroll 1
  for (u32 step = 0; step < steps; ++step) {
    const uint4* from = region + piece * 4096ull + threadIdx.x;
    uint4 value[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) value[i] = load_l2(from + i * 1024);
#pragma unroll
    for (int i = 0; i < 4; ++i) sum ^= value[i].x ^ value[i].y ^ value[i].z ^ value[i].w;
    piece = piece + 1 == pieces ? 0 : piece + 1;
  }
  if (sum == never) *out = sum;
}

// A CTA of 1024 threads reads shared memory by 16 bytes a thread, neighbouring threads from neighbouring places: free
// of bank conflicts, 16 loads an iteration. volatile keeps the loads of equal places apart. `never` as above.
extern "C" __global__ void __launch_bounds__(1024, 2) ceiling_smem(u32 iterations, u64 never, u32* out) {
  __shared__ uint4 places[1024 + 15 * 32];
  for (u32 i = threadIdx.x; i < 1024 + 15 * 32; i += 1024) {
    const u32 x = (i + 1) * 0x9e3779b9u, y = x * 0x85ebca6bu;
    places[i] = make_uint4(x, y, x ^ y >> 7, y ^ x >> 11);
  }
  __syncthreads();
  const u32 from = static_cast<u32>(__cvta_generic_to_shared(places + threadIdx.x));
  u32 sum = 0;
#pragma unroll 1
  for (u32 iteration = 0; iteration < iterations; ++iteration) {
#pragma unroll
    for (u32 i = 0; i < 16; ++i) {
      uint4 value;
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                   : "r"(from + i * 512));
      sum ^= value.x ^ value.y ^ value.z ^ value.w;
    }
  }
  if (sum == never) *out = sum;
}

// 16 chains of FFMA a thread, 16 links of each an iteration: far more than the four cycles an FFMA takes, and few
// enough for the registers of a full SM and for the instruction cache. `never` as above: the comparison with NaN fails.
extern "C" __global__ void __launch_bounds__(1024) ceiling_ffma(u32 iterations, float never, float* out) {
  // Values that change sign and mantissa from link to link and neither grow nor settle.
  const float scale = -1.0f + 1e-7f * static_cast<float>(threadIdx.x);
  const float shift = 0.7f + 1e-3f * static_cast<float>(blockIdx.x);
  float chain[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) chain[i] = 1e-3f * static_cast<float>(threadIdx.x * 16 + i);
#pragma unroll 1
  for (u32 iteration = 0; iteration < iterations; ++iteration) {
#pragma unroll
    for (int link = 0; link < 16; ++link) {
#pragma unroll
      for (int i = 0; i < 16; ++i) chain[i] = __fmaf_rn(chain[i], scale, shift);
    }
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 16; ++i) sum += chain[i];
  if (sum == never) *out = sum;
}
