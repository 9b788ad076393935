// SPDX-License-Identifier: MIT
// ldmatrix (sm_75 and newer): 8 x 8 matrices of 16-bit elements from shared memory to the registers of a warp.
#pragma once

namespace pgtune {

/// Loads four matrices of 8 lines of 16 bytes. Lane i passes the address of line i % 8 of matrix i / 8, aligned to 16
/// bytes. Of each matrix lane i receives bytes 4 * (i % 4) to 4 * (i % 4) + 3 of line i / 4; transposed (16-bit
/// elements only), it receives element i / 4 of lines 2 * (i % 4) and 2 * (i % 4) + 1.
template <bool kTransposed>
__device__ __forceinline__ void ldmatrix_x4(unsigned (&out)[4], unsigned shared) {
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(shared)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(shared)
                 : "memory");
  }
}

}  // namespace pgtune
