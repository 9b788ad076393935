// SPDX-License-Identifier: MIT
// Splits a float matrix into matrices of its elements' parts (float_parts.cuh), and transposes it where it does not lie
// along K.
#pragma once

#include "device/copy/float_parts.cuh"

namespace pgtune {

/// Stores the parts of four neighbours, of which `count` exist; the matrices of parts lie `part_stride` elements apart.
template <int kParts>
__device__ __forceinline__ void store_parts(char* to, const float (&four)[4], int count, long long part_stride) {
  unsigned parts[4][kParts];
#pragma unroll
  for (int e = 0; e < 4; ++e) FloatParts<kParts>::split(four[e], parts[e]);
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    if constexpr (kParts == 2) {
      unsigned* const at = reinterpret_cast<unsigned*>(to) + part * part_stride;
      if (count >= 4) {
        *reinterpret_cast<uint4*>(at) = make_uint4(parts[0][part], parts[1][part], parts[2][part], parts[3][part]);
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          if (e < count) at[e] = parts[e][part];
        }
      }
    } else {
      unsigned short* const at = reinterpret_cast<unsigned short*>(to) + part * part_stride;
      if (count >= 4) {
        *reinterpret_cast<uint2*>(at) =
            make_uint2(parts[0][part] >> 16 | parts[1][part], parts[2][part] >> 16 | parts[3][part]);
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          if (e < count) at[e] = static_cast<unsigned short>(parts[e][part] >> 16);
        }
      }
    }
  }
}

constexpr int kSplitTile = 64;

/// Where a matrix lies and where its parts go.
struct SplitPlan {
  const float* in;
  char* out;                ///< of the first part; aligned to 16 bytes, as are its lines
  int lines, depth;         ///< of the parts: an operand's rows or columns, and K
  long long ld_in, ld_out;  ///< elements from line to line
  long long part_stride;    ///< elements from part to part
  bool along_k;             ///< lines of `in` are lines of the parts; otherwise it is transposed
  bool wide;                ///< lines of `in` start at multiples of 16 bytes
};

/// Splits the 64 lines from `line` on and the 64 steps of K from `k` on; 256 threads call it. The macro PART_BYTES
/// gives the bytes of a part's element.
template <int kParts>
__device__ __forceinline__ void split_tile(const SplitPlan& plan, int line, int k) {
  __shared__ float tile[kSplitTile][kSplitTile + 1];
  const int piece = static_cast<int>(threadIdx.x) % 16 * 4, first = static_cast<int>(threadIdx.x) / 16;
  const int y0 = plan.along_k ? line : k, x0 = plan.along_k ? k : line;
  const int y_end = plan.along_k ? plan.lines : plan.depth, x_end = plan.along_k ? plan.depth : plan.lines;
  float four[kSplitTile / 16][4];
#pragma unroll
  for (int r = 0; r < kSplitTile / 16; ++r) {
    const int y = y0 + first + r * 16, x = x0 + piece;
    const float* const from = plan.in + y * plan.ld_in + x;
#pragma unroll
    for (int e = 0; e < 4; ++e) four[r][e] = 0;
    if (y >= y_end) continue;
    if (plan.wide && x + 4 <= x_end) {
      const float4 all = *reinterpret_cast<const float4*>(from);
      four[r][0] = all.x, four[r][1] = all.y, four[r][2] = all.z, four[r][3] = all.w;
    } else {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        if (x + e < x_end) four[r][e] = from[e];
      }
    }
  }
  if (!plan.along_k) {
#pragma unroll
    for (int r = 0; r < kSplitTile / 16; ++r) {
#pragma unroll
      for (int e = 0; e < 4; ++e) tile[first + r * 16][piece + e] = four[r][e];
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < kSplitTile / 16; ++r) {
#pragma unroll
      for (int e = 0; e < 4; ++e) four[r][e] = tile[piece + e][first + r * 16];
    }
  }
#pragma unroll
  for (int r = 0; r < kSplitTile / 16; ++r) {
    const int l = line + first + r * 16, at = k + piece;
    if (l >= plan.lines || at >= plan.depth) continue;
    store_parts<kParts>(plan.out + (l * plan.ld_out + at) * PART_BYTES, four[r], plan.depth - at, plan.part_stride);
  }
}

}  // namespace pgtune
