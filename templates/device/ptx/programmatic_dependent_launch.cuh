// SPDX-License-Identifier: MIT
// Programmatic dependent launch (sm_90 and newer): a kernel starts while the one before it still runs, and waits for
// what that one wrote only where it needs it.
#pragma once

namespace pgtune {

/// Waits until the kernels this one depends on have ended, and makes what they wrote visible. Returns at once where the
/// launch asked for no overlap.
__device__ __forceinline__ void await_earlier_kernels() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

/// Lets the kernel after this one start once every CTA of this one has called it or ended.
__device__ __forceinline__ void let_next_kernel_start() { asm volatile("griddepcontrol.launch_dependents;" :::); }

}  // namespace pgtune
