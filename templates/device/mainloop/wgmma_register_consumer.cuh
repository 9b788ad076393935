// SPDX-License-Identifier: MIT
// The consumer of gemm_wgmma with the left operand from registers (RS). It serves a left operand of 8 or 32 bits that
// does not lie along K, which tensor cores cannot transpose in shared memory: each warp loads its 16 rows into
// registers, where a thread's fragment is in order.
//
// Rows lie side by side in shared memory, in a line of LEFT_SPAN bytes for each step of K, whose 16-byte pieces TMA has
// swizzled (wgmma_operand.cuh). A lane takes neighbouring rows, 2 g and 2 g + 1 of the warp's 16 for g = lane / 4, as
// the instruction's rows g and g + 8: they are loaded together, and are neighbours in the results too.
#pragma once

#include "device/mainloop/pipeline_state.cuh"
#include "device/mainloop/wgmma_config.cuh"
#include "device/ptx/ldmatrix.cuh"
#include "device/ptx/special_registers.cuh"

namespace pgtune::product {

/// A warp's fragment of the left operand: 64 rows for the warpgroup and an instruction's steps of K.
struct TransposedFragment {
  unsigned read[4];  ///< as it is read

  /// Returns where a lane reads first, for the warp's 16 rows from `row` of the tile on.
  static __device__ __forceinline__ unsigned place(unsigned tile, int row) {
    const int lane = lane_index(), across = row % Left::kAcross * PART_BYTES;
    int k, piece;
    unsigned rest = 0;
    if constexpr (PART_BYTES == 4) {
      // Half of the lanes start with the later steps of K, so that 16 lanes reach all banks.
      k = lane % 4 + (starts_late(lane) ? 4 : 0);
      piece = across / 16 + lane / 8;
      rest = lane / 4 % 2 * 8;
    } else {
      // For ldmatrix lane i names line i % 8 of matrix i / 8: two steps of K for each of four quads of lanes. The upper
      // quads' pairs are exchanged, also to reach all banks.
      const int to_quad = lane % 8 / 2, pair = lane / 8 % 2 ^ to_quad / 2;
      k = lane / 16 * 16 + to_quad * 4 + pair * 2 + lane % 2;
      piece = across / 16;
    }
    const int exchanged = k * LEFT_SPAN / 128 % (LEFT_SPAN / 16);
    return tile + row / Left::kAcross * Left::kPanelBytes + k * LEFT_SPAN + ((piece ^ exchanged) << 4) + rest;
  }

  /// Loads what instruction i needs for its step-th part of the k-block, from the lane's place `at` in this stage.
  __device__ __forceinline__ void load(unsigned at, int i, int step) {
    // 64 rows further lie further panels, or the other half of one.
    const int panel = i * 64 / Left::kAcross;
    const unsigned half = static_cast<unsigned>(i * 64 % Left::kAcross * PART_BYTES);
    const unsigned offset = static_cast<unsigned>(panel * Left::kPanelBytes + step * kInstructionK * LEFT_SPAN);
    if constexpr (PART_BYTES == 4) {
      load_pair(read[0], read[1], at + offset);
      load_pair(read[2], read[3], (at ^ (4 * 128 | 4 << 4)) + offset);
    } else {
      ldmatrix_x4<true>(read, (at ^ half) + offset);
    }
  }

  /// Arranges a thread's registers for the instruction: words lane % 4 along K of rows g and g + 8, then the same of
  /// the later half of the steps of K.
  __device__ __forceinline__ void arrange(unsigned (&parts)[4]) const {
    if constexpr (PART_BYTES == 4) {
      const bool late = starts_late(lane_index());
      parts[0] = late ? read[2] : read[0], parts[1] = late ? read[3] : read[1];
      parts[2] = late ? read[0] : read[2], parts[3] = late ? read[1] : read[3];
    } else {
      // Each register has two steps of K of both rows.
      const bool exchanged = lane_index() % 4 >= 2;
      const unsigned even = exchanged ? 0x2064 : 0x6420, odd = exchanged ? 0x3175 : 0x7531;
      parts[0] = __byte_perm(read[0], read[1], even), parts[1] = __byte_perm(read[0], read[1], odd);
      parts[2] = __byte_perm(read[2], read[3], even), parts[3] = __byte_perm(read[2], read[3], odd);
    }
  }

 private:
  static_assert(PART_BYTES == 1 || LEFT_SPAN == 128, "what load() expects of floats");
  static __device__ __forceinline__ bool starts_late(int lane) { return lane / 8 % 2 != 0; }
  static __device__ __forceinline__ void load_pair(unsigned& one, unsigned& two, unsigned at) {
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(one), "=r"(two) : "r"(at) : "memory");
  }
};

/// Multiplies as multiply() does, with the left operand from registers. `from.left` is a lane's
/// TransposedFragment::place(). It loads the next fragments before it issues this step's products, because issuing
/// waits until the tensor cores take their registers.
template <class Work>
__device__ __forceinline__ void multiply_from_registers(Accumulators& acc, int blocks, PipelineState<STAGES>& now,
                                                        const ConsumerParams& from, unsigned next_order,
                                                        const Work& while_multiplying) {
  constexpr int kSteps = kBlockK / kInstructionK, kWanted = MMAS_IN_FLIGHT == 0 ? 2 : 4;
  constexpr int kPending = kWanted < kSteps ? kWanted : kSteps;
  TransposedFragment next[kInstructions];
  unsigned parts[kPending][kInstructions][4];
  unsigned before = 0;
#pragma unroll 1
  for (int block = 0; block < blocks; ++block) {
    wait_full(from.full + 8 * now.stage, now.parity);
    const unsigned left = from.left + now.stage * kStageBytes;
#pragma unroll
    for (int i = 0; i < kInstructions; ++i) next[i].load(left, i, 0);
    const unsigned right = from.right + now.stage * (kStageBytes / 16), here = from.release + 8 * now.stage;
    now.advance();
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const bool last = step + 1 == kSteps;
      warpgroup_wait<kPending - 1>();  // those that use the same registers are done
      if (step == kPending - 1 && block > 0) consumer_release(from.release, before);
#pragma unroll
      for (int i = 0; i < kInstructions; ++i) {
        next[i].arrange(parts[step % kPending][i]);
        if (!last) next[i].load(left, i, step + 1);
      }
      warpgroup_arrive();
#pragma unroll
      for (int i = 0; i < kInstructions; ++i) {
        wgmma(acc[i], parts[step % kPending][i], Right::descriptor(right + Right::offset(0, step * kInstructionK)),
              step > 0 || block > 0);
      }
      warpgroup_commit();
    }
    if (block == 0) while_multiplying();
    before = here;
  }
  if (kPingPong && next_order != 0 && lane_index() == 0) mbarrier_arrive(next_order);
  warpgroup_wait<0>();
  consumer_release(from.release, before);
#pragma unroll
  for (int i = 0; i < kInstructions; ++i) warpgroup_fence_operand(acc[i]);
}

}  // namespace pgtune::product
