// SPDX-License-Identifier: MIT
// pgtune's own kernels around a measurement: data, comparison, guards, checksums, clocks. Compiled
// by NVRTC when the measuring worker starts; includes nothing but these, so that this takes a fraction of a second.
#include "kernels/comparison.cuh"
#include "kernels/data.cuh"
#include "kernels/roof.cuh"
#include "kernels/spans.cuh"
#include "kernels/tensors.cuh"
#include "kernels/verification.cuh"

// Reads time and clock counter on every SM that gets a CTA; entry [SM] = (nanoseconds, clocks).
extern "C" __global__ void read_clocks(ulonglong2* entries) {
  if (threadIdx.x != 0) return;
  u32 sm;
  u64 time_ns;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time_ns));
  entries[sm] = make_ulonglong2(time_ns, static_cast<u64>(clock64()));
}
