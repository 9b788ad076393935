// SPDX-License-Identifier: MIT
// A thread's index, read anew at each call: what is computed from it after a main loop holds no register during the
// loop, as values computed from threadIdx would.
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
