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

/// Stores or loads two neighbours of 32 bits; the address is a multiple of 8.
__device__ __forceinline__ void store_shared(unsigned shared, float first, float second) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(shared), "f"(first), "f"(second) : "memory");
}
__device__ __forceinline__ void store_shared(unsigned shared, int first, int second) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(shared), "r"(first), "r"(second) : "memory");
}
__device__ __forceinline__ void load_shared(float& first, float& second, unsigned shared) {
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(first), "=f"(second) : "r"(shared) : "memory");
}
__device__ __forceinline__ void load_shared(int& first, int& second, unsigned shared) {
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(first), "=r"(second) : "r"(shared) : "memory");
}

}  // namespace pgtune
