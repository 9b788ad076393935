// SPDX-License-Identifier: MIT
// Runs a kernel's CTAs on the host, one after another: the threads of a CTA are threads here, and __syncthreads() is a
// barrier of them. Include it after on_host.hpp and before the kernel.
#pragma once

#include <barrier>
#include <thread>
#include <vector>

#define __global__
#define __shared__ static
#define __launch_bounds__(threads)
struct Index {
  unsigned x;
};
inline thread_local Index threadIdx, blockIdx;
inline std::barrier<>* cta_barrier;
inline void __syncthreads() { cta_barrier->arrive_and_wait(); }

namespace pgtune {

/// Calls `kernel()` in each of `threads` threads of each of `ctas` CTAs.
template <typename Kernel>
void run_ctas(unsigned ctas, unsigned threads, const Kernel& kernel) {
  std::barrier<> barrier(static_cast<std::ptrdiff_t>(threads));
  cta_barrier = &barrier;
  std::vector<std::thread> running;
  for (unsigned thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      threadIdx.x = thread;
      for (blockIdx.x = 0; blockIdx.x < ctas; ++blockIdx.x) {
        kernel();
        barrier.arrive_and_wait();  // the next CTA has the same shared memory
      }
    });
  }
  for (std::thread& thread : running) thread.join();
}

}  // namespace pgtune
