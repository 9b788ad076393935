// SPDX-License-Identifier: MIT
// A thread's place, asked for anew each time: what is computed from it after a main loop takes no registers away in
// there, as it does from threadIdx.
#pragma once

namespace pgtune {

__device__ __forceinline__ int thread_index() {
  int index;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(index));
  return index;
}

__device__ __forceinline__ int lane_index() {
  int lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

}  // namespace pgtune
