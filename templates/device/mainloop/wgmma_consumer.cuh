// SPDX-License-Identifier: MIT
// The consumer of gemm_wgmma: a warpgroup multiplies the stages of a work tile, with both operands in shared memory.
#pragma once

#include "device/mainloop/pipeline_state.cuh"
#include "device/mainloop/wgmma_config.cuh"
#include "device/ptx/special_registers.cuh"

namespace pgtune::product {

/// Issues the wgmmas of one stage. `adds` is 0 where they start new accumulators. For operands in parts only the
/// products that count in float32 are issued, the smallest first.
__device__ __forceinline__ void issue_wgmmas(Accumulators& acc, unsigned left, unsigned right, bool adds) {
#pragma unroll
  for (int order = PARTS - 1; order >= 0; --order) {
#pragma unroll
    for (int part = order; part >= 0; --part) {
      const unsigned left_part = left + part * (Left::kBytes / 16);
      const unsigned right_part = right + (order - part) * (Right::kBytes / 16);
      const bool first = order == PARTS - 1 && part == order;
#pragma unroll
      for (int k = 0; k < kBlockK; k += kInstructionK) {
#pragma unroll
        for (int i = 0; i < kInstructions; ++i) {
          wgmma(acc[i], Left::descriptor(left_part + Left::offset(i * 64, k)),
                Right::descriptor(right_part + Right::offset(0, k)), first && k == 0 ? adds : 1);
        }
      }
    }
  }
}

/// Accumulates a work tile's stages, from the pipeline state `now` on. With ping-pong each warp arrives at
/// `next_order`, unless it is 0, when it has issued all products. `while_multiplying` is called once the first products
/// are issued.
template <class Work>
__device__ __forceinline__ void multiply(Accumulators& acc, int blocks, PipelineState<STAGES>& now,
                                         const ConsumerParams& from, unsigned next_order,
                                         const Work& while_multiplying) {
  unsigned before = 0;
#pragma unroll 1
  for (int block = 0; block < blocks; ++block) {
    wait_full(from.full + 8 * now.stage, now.parity);
    warpgroup_arrive();
    const unsigned stage = now.stage * (kStageBytes / 16);
    issue_wgmmas(acc, from.left + stage, from.right + stage, block > 0);
    warpgroup_commit();
    if (block == 0) while_multiplying();
    warpgroup_wait<MMAS_IN_FLIGHT>();
    const unsigned here = from.release + 8 * now.stage;
    if (MMAS_IN_FLIGHT == 0 || block > 0) consumer_release(from.release, MMAS_IN_FLIGHT == 0 ? here : before);
    before = here;
    now.advance();
  }
  if (kPingPong && next_order != 0 && lane_index() == 0) mbarrier_arrive(next_order);
  warpgroup_wait<0>();
  if (MMAS_IN_FLIGHT > 0) consumer_release(from.release, before);
#pragma unroll
  for (int i = 0; i < kInstructions; ++i) warpgroup_fence_operand(acc[i]);
}

/// The same, but the accumulators of PROMOTION_INTERVAL k-blocks at a time are added up outside of the tensor cores.
/// These truncate what they accumulate: to fewer bits than float32 has if products have 8 bits, and always towards
/// zero.
template <class Work>
__device__ __forceinline__ void multiply_promoted(Accumulators& acc, int blocks, PipelineState<STAGES>& now,
                                                  const ConsumerParams& from, unsigned next_order,
                                                  const Work& while_multiplying) {
  constexpr int kAtOnce = PROMOTION_INTERVAL > 0 ? PROMOTION_INTERVAL : 1;
#pragma unroll 1
  for (int done = 0; done < blocks; done += kAtOnce) {
    Accumulators some;
    const int rest = blocks - done;
    multiply(some, rest < kAtOnce ? rest : kAtOnce, now, from, rest > kAtOnce ? 0 : next_order, [&] {
      if (done == 0) while_multiplying();
    });
#pragma unroll
    for (int i = 0; i < kAccumulators; ++i) {
      Accumulator& sum = acc[i / kInstructionAccumulators][i % kInstructionAccumulators];
      const Accumulator more = some[i / kInstructionAccumulators][i % kInstructionAccumulators];
      sum = done == 0 ? more : sum + more;
    }
  }
}

}  // namespace pgtune::product
