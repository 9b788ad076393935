// SPDX-License-Identifier: MIT
// The consumer of sgemm_tma: accumulates the stages of a segment.
#pragma once

#include "device/mainloop/ffma.cuh"
#include "device/mainloop/sgemm_tma_config.cuh"
#include "device/ptx/mbarrier.cuh"

namespace {

/// Accumulates the k-blocks of a segment, from the pipeline state `now` on, whose first fragments `a` and `b` hold.
/// Where `goes_on`, it loads the next segment's first fragments at the end.
__device__ __forceinline__ void compute(float (&acc)[TM][TN], OperandA& a, OperandB& b, const Slice& slice,
                                        PipelineState& now, int blocks, bool goes_on) {
  const auto stage_a = [&](int s) { return slice.stages + kStageFloats * s; };
  const auto stage_b = [&](int s) { return slice.stages + kStageFloats * s + OperandA::kFloats; };
#pragma unroll 1
  for (int left = blocks; left > 0; --left) {
    PipelineState next = now;
    next.advance();
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      // The next stage's first fragments are loaded while this one's last are used. After the very last stage old
      // values are loaded, and never used.
      if (k == BK - 1 && (left > 1 || goes_on)) pgtune::mbarrier_wait(slice.full + 8 * next.stage, next.parity);
      a.read(stage_a(k + 1 < BK ? now.stage : next.stage), (k + 1) % BK);
      b.read(stage_b(k + 1 < BK ? now.stage : next.stage), (k + 1) % BK);
      if (k == BK - 1) {
        __syncwarp();
        if (threadIdx.x % 32 == 0) pgtune::mbarrier_arrive(slice.empty + 8 * now.stage);
      }
      pgtune::multiply<kOrder>(acc, a.value[k % 2], b.value[k % 2]);
    }
    now = next;
  }
}

}  // namespace
