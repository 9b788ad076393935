// SPDX-License-Identifier: MIT
// gemm_wgmma's main loop where the left operand does not lie along K and has 8 or 32 bits, which tensor cores cannot
// turn in shared memory: each warp reads its 16 rows into registers, where a thread's part of an instruction is in
// order.
//
// Rows lie side by side in shared memory, a line of LEFT_SPAN bytes for each step of K, pieces of 16 bytes exchanged by
// the copy engine (wgmma_operand.cuh). A lane takes neighbouring rows, 2 g and 2 g + 1 of the warp's 16 for
// g = lane / 4, as the instruction's rows g and g + 8: they are read together, and are neighbours in the results too.
#pragma once

#include "device/mainloop/pipeline_state.cuh"
#include "device/mainloop/wgmma_config.cuh"
#include "device/ptx/ldmatrix.cuh"
#include "device/ptx/special_registers.cuh"

namespace pgtune::product {

/// A warp's part of the left operand in 64 rows and an instruction's depth.
struct TurnedFragment {
  unsigned read[4];  ///< as it is read

  /// Where a lane reads first, for the warp's 16 rows from `row` of the tile on.
  static __device__ __forceinline__ unsigned place(unsigned tile, int row) {
    const int lane = lane_index(), across = row % Left::kAcross * PART_BYTES;
    int k, piece;
    unsigned rest = 0;
    if constexpr (PART_BYTES == 4) {
      // Half of the lanes start with the later steps, so that 16 lanes reach all banks.
      k = lane % 4 + (starts_late(lane) ? 4 : 0);
      piece = across / 16 + lane / 8;
      rest = lane / 4 % 2 * 8;
    } else {
      // Lane i names line i % 8 of matrix i / 8 for ldmatrix: two steps of K for each of four quads of lanes. The upper
      // quads' pairs are exchanged for the same reason.
      const int to_quad = lane % 8 / 2, pair = lane / 8 % 2 ^ to_quad / 2;
      k = lane / 16 * 16 + to_quad * 4 + pair * 2 + lane % 2;
      piece = across / 16;
    }
    const int exchanged = k * LEFT_SPAN / 128 % (LEFT_SPAN / 16);
    return tile + row / Left::kAcross * Left::kPanelBytes + k * LEFT_SPAN + ((piece ^ exchanged) << 4) + rest;
  }

  /// Reads from the place `at` in this stage what instruction i needs for the step-th of its depths.
  __device__ __forceinline__ void load(unsigned at, int i, int step) {
    // 64 rows further are further panels, or the other half of one.
    const int panel = i * 64 / Left::kAcross;
    const unsigned half = static_cast<unsigned>(i * 64 % Left::kAcross * PART_BYTES);
    const unsigned offset = static_cast<unsigned>(panel * Left::kPanelBytes + step * kInstructionDepth * LEFT_SPAN);
    if constexpr (PART_BYTES == 4) {
      load_pair(read[0], read[1], at + offset);
      load_pair(read[2], read[3], (at ^ (4 * 128 | 4 << 4)) + offset);
    } else {
      load_matrices<true>(read, (at ^ half) + offset);
    }
  }

  /// A thread's part of the instruction's operand: of rows g and g + 8 the steps of K that are lane % 4 in words, then
  /// the same of the later half of the steps.
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

/// multiply() with the left operand from registers. `from.left` is a lane's TurnedFragment::place(). What the next
/// products need is read before these are asked for: that has to wait until the tensor cores take their registers.
__device__ __forceinline__ void multiply_turned(Sums& sums, int blocks, RingPlace<STAGES>& now, const Reading& from,
                                                unsigned asked) {
  constexpr int kSteps = kDepth / kInstructionDepth, kWanted = WAIT_DEPTH == 0 ? 2 : 4;
  constexpr int kPending = kWanted < kSteps ? kWanted : kSteps;
  TurnedFragment next[kInstructions];
  unsigned parts[kPending][kInstructions][4];
  unsigned before = 0;
#pragma unroll 1
  for (int block = 0; block < blocks; ++block) {
    barrier_wait(from.full + 8 * now.stage, now.parity);
    const unsigned left = from.left + now.stage * kStageBytes;
#pragma unroll
    for (int i = 0; i < kInstructions; ++i) next[i].load(left, i, 0);
    const unsigned right = from.right + now.stage * (kStageBytes / 16), here = from.release + 8 * now.stage;
    now.advance();
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const bool last = step + 1 == kSteps;
      products_wait<kPending - 1>();  // those that use the same registers are done
      if (step == kPending - 1 && block > 0) release_stage(from.release, before);
#pragma unroll
      for (int i = 0; i < kInstructions; ++i) {
        next[i].arrange(parts[step % kPending][i]);
        if (!last) next[i].load(left, i, step + 1);
      }
      products_begin();
#pragma unroll
      for (int i = 0; i < kInstructions; ++i) {
        multiply_tiles(sums[i], parts[step % kPending][i],
                       Right::descriptor(right + Right::offset(0, step * kInstructionDepth)), step > 0 || block > 0);
      }
      products_commit();
    }
    before = here;
  }
  if (kPingPong && asked != 0 && lane_index() == 0) barrier_arrive(asked);
  products_wait<0>();
  release_stage(from.release, before);
#pragma unroll
  for (int i = 0; i < kInstructions; ++i) keep_sums(sums[i]);
}

}  // namespace pgtune::product
