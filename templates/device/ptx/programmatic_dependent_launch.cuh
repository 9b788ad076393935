// SPDX-License-Identifier: MIT
// Programmatic dependent launch (sm_90 and newer): a kernel starts while the one before it still runs, and waits for
// that one's results only where it needs them.
#pragma once

namespace pgtune {

/// Waits until the kernels that this one depends on have ended and what they wrote is visible. It returns at once where
/// the launch asked for no overlap.
__device__ __forceinline__ void griddepcontrol_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

/// Lets the dependent kernel start once every CTA of this one has called it or ended.
__device__ __forceinline__ void griddepcontrol_launch_dependents() {
  asm volatile("griddepcontrol.launch_dependents;" :::);
}

}  // namespace pgtune
