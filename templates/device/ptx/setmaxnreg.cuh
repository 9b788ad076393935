// SPDX-License-Identifier: MIT
// setmaxnreg (sm_90a) moves registers between the warpgroups of a CTA. All warps of a warpgroup call it together.
// Counts are multiples of 8; a warpgroup can only allocate what others have deallocated.
#pragma once

namespace pgtune {

template <int kRegisters>
__device__ __forceinline__ void register_dealloc() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

template <int kRegisters>
__device__ __forceinline__ void register_alloc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

}  // namespace pgtune
