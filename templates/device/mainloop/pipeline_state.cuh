// SPDX-License-Identifier: MIT
// The place in a ring of stages.
#pragma once

namespace pgtune {

/// Where the next tile of a ring of stages goes, or comes from, and the parity of the phase to wait for.
template <int kStages>
struct RingPlace {
  int stage;
  unsigned parity;
  __device__ __forceinline__ void advance() {
    if (++stage == kStages) stage = 0, parity ^= 1;
  }
};

}  // namespace pgtune
