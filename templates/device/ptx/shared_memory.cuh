// SPDX-License-Identifier: MIT
// Addresses of shared memory as instructions take them, and loads and stores by such addresses.
#pragma once

namespace pgtune {

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ unsigned load_shared(unsigned shared) {
  unsigned word;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(shared) : "memory");
  return word;
}

/// Stores 16 bytes; the address is a multiple of 16.
__device__ __forceinline__ void store_shared(unsigned shared, const unsigned (&in)[4]) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(shared), "r"(in[0]), "r"(in[1]), "r"(in[2]), "r"(in[3])
               : "memory");
}

}  // namespace pgtune
