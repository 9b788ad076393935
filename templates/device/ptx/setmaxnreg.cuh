// SPDX-License-Identifier: MIT
// Moving registers between the warpgroups of a CTA (PTX setmaxnreg, sm_90a): all warps of a warpgroup call it together.
// Counts are multiples of 8; what one warpgroup takes, others must have given up.
#pragma once

namespace pgtune {

template <int kRegisters>
__device__ __forceinline__ void give_up_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

template <int kRegisters>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

}  // namespace pgtune
