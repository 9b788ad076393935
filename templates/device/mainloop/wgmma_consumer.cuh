// SPDX-License-Identifier: MIT
// The computing side of gemm_wgmma's main loop: a warpgroup's sums of the stages of a segment.
#pragma once

#include "device/mainloop/pipeline_state.cuh"
#include "device/mainloop/wgmma_config.cuh"
#include "device/ptx/special_registers.cuh"

namespace pgtune::product {

/// Asks for the products of one stage, `adds` to the sums or instead of them. Of operands in parts only the products
/// that count in float32 are taken, the smallest first.
__device__ __forceinline__ void ask_products(Sums& sums, unsigned left, unsigned right, bool adds) {
#pragma unroll
  for (int order = PARTS - 1; order >= 0; --order) {
#pragma unroll
    for (int part = order; part >= 0; --part) {
      const unsigned left_part = left + part * (Left::kBytes / 16);
      const unsigned right_part = right + (order - part) * (Right::kBytes / 16);
      const bool first = order == PARTS - 1 && part == order;
#pragma unroll
      for (int k = 0; k < kDepth; k += kInstructionDepth) {
#pragma unroll
        for (int i = 0; i < kInstructions; ++i) {
          multiply_tiles(sums[i], Left::descriptor(left_part + Left::offset(i * 64, k)),
                         Right::descriptor(right_part + Right::offset(0, k)), first && k == 0 ? adds : 1);
        }
      }
    }
  }
}

/// Sums of a segment's stages, from the ring place `now` on. With pingpong each warp arrives at `asked`, if it is not
/// 0, when it has asked for all products.
__device__ __forceinline__ void multiply(Sums& sums, int blocks, RingPlace<STAGES>& now, const Reading& from,
                                         unsigned asked) {
  unsigned before = 0;
#pragma unroll 1
  for (int block = 0; block < blocks; ++block) {
    barrier_wait(from.full + 8 * now.stage, now.parity);
    products_begin();
    const unsigned stage = now.stage * (kStageBytes / 16);
    ask_products(sums, from.left + stage, from.right + stage, block > 0);
    products_commit();
    products_wait<WAIT_DEPTH>();
    const unsigned here = from.release + 8 * now.stage;
    if (WAIT_DEPTH == 0 || block > 0) release_stage(from.release, WAIT_DEPTH == 0 ? here : before);
    before = here;
    now.advance();
  }
  if (kPingPong && asked != 0 && lane_index() == 0) barrier_arrive(asked);
  products_wait<0>();
  if (WAIT_DEPTH > 0) release_stage(from.release, before);
#pragma unroll
  for (int i = 0; i < kInstructions; ++i) keep_sums(sums[i]);
}

/// multiply(), with the sums of PROMOTE k-blocks at a time added up outside of the tensor cores, which cut what they
/// add to a sum: to fewer bits than float32 has if products have 8 bits, and always towards zero. `early`: the first
/// time after half as many, so that a warpgroup that adds finds the other one multiplying.
__device__ __forceinline__ void multiply_promoted(Sums& sums, int blocks, RingPlace<STAGES>& now, const Reading& from,
                                                  unsigned asked, bool early) {
  constexpr int kAtOnce = PROMOTE > 0 ? PROMOTE : 1;
  int some_blocks = early && kAtOnce > 1 ? kAtOnce / 2 : kAtOnce;
#pragma unroll 1
  for (int done = 0; done < blocks;) {
    Sums some;
    const int rest = blocks - done;
    multiply(some, rest < some_blocks ? rest : some_blocks, now, from, rest > some_blocks ? 0 : asked);
#pragma unroll
    for (int i = 0; i < kSums; ++i) {
      float& sum = sums[i / kSumsOfInstruction][i % kSumsOfInstruction];
      const float more = some[i / kSumsOfInstruction][i % kSumsOfInstruction];
      sum = done == 0 ? more : sum + more;
    }
    done += some_blocks;
    some_blocks = kAtOnce;
  }
}

}  // namespace pgtune::product
