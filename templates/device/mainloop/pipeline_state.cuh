// SPDX-License-Identifier: MIT
// A position in a ring of pipeline stages.
#pragma once

namespace pgtune {

/// The stage that is written or read next, and the parity of the phase to wait for.
template <int kStages>
struct PipelineState {
  int stage;
  unsigned parity;
  __device__ __forceinline__ void advance() {
    if (++stage == kStages) stage = 0, parity ^= 1;
  }
};

}  // namespace pgtune
