// SPDX-License-Identifier: MIT
// What launches that are compared with each other find before them.
#pragma once

#include "kernels/integers.cuh"

// Writes what is there: leaves the caches as poisoning does and the contents as they are.
extern "C" __global__ void rewrite(unsigned char* first, i64 bytes) {
  volatile u32* const words = reinterpret_cast<u32*>(first);
#pragma unroll 1
  for (i64 i = global_thread(); i < bytes / 4; i += thread_count()) words[i] = words[i];
}

// Ends so many nanoseconds after it began.
extern "C" __global__ void hold(u64 duration_ns) {
  u64 start_ns, now_ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start_ns));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now_ns));
  } while (now_ns - start_ns < duration_ns);
}
