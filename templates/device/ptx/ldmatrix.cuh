// SPDX-License-Identifier: MIT
// Matrices of 8 lines of 16 bytes from shared memory to the registers of a warp (sm_75 and newer).
#pragma once

namespace pgtune {

/// Four matrices; lane i names the place of line i % 8 of matrix i / 8, aligned to 16 bytes. Lane i gets of each the
/// i % 4-th four bytes of line i / 4; transposed (elements of 16 bits alone), the (i / 4)-th elements of lines
/// i % 4 * 2 and the next.
template <bool kTransposed>
__device__ __forceinline__ void load_matrices(unsigned (&out)[4], unsigned shared) {
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
