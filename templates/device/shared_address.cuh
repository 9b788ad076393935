// SPDX-License-Identifier: MIT
// The address that instructions on shared memory take.
#pragma once

namespace pgtune {

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

}  // namespace pgtune
