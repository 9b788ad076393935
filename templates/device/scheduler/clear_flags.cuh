// SPDX-License-Identifier: MIT
// The kernel that zeroes what the workers of a split product wait on, so that a launch needs nothing of its workspace.
#pragma once

#include "device/ptx/programmatic_dependent_launch.cuh"

/// Zeroes `flags` words from byte `flags_at` of `workspace` on. One CTA, and launched to overlap the end of what the
/// stream ran before: it waits for that before it writes, and lets the next kernel start only then.
extern "C" __global__ void __launch_bounds__(256) clear_flags(char* workspace, long long flags_at, int flags) {
#if __CUDA_ARCH__ >= 900
  pgtune::griddepcontrol_wait();
  pgtune::griddepcontrol_launch_dependents();
#endif
  unsigned* const first = reinterpret_cast<unsigned*>(workspace + flags_at);
  for (int i = static_cast<int>(threadIdx.x); i < flags; i += 256) first[i] = 0;
}
