// SPDX-License-Identifier: MIT
// A copy of 16 bytes from shared to global memory by one thread.
#pragma once

namespace pgtune {

/// Both addresses are multiples of 16.
__device__ __forceinline__ void copy_piece_to_global(void* to, unsigned shared) {
  unsigned words[4];
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(shared)
               : "memory");
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(words[0]), "r"(words[1]), "r"(words[2]),
               "r"(words[3])
               : "memory");
}

}  // namespace pgtune
