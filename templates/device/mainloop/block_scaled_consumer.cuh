// SPDX-License-Identifier: MIT
// The consumer of products whose operands have a scale for each block of 128 along K: the tensor cores start from zero
// in each block, and its sums are scaled and added in float32. One operand, the rows, has a scale of its own for each
// row, which the producer puts beside the stage; the other one, the weights, one for 128 of its rows.
#pragma once

#include "device/mainloop/pipeline_state.cuh"
#include "device/mainloop/wgmma_config.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/shared_memory.cuh"

namespace pgtune::product {

constexpr int kScaleBlock = 128;
constexpr int kScaledRows = SWAP_AB ? BN : BM;  ///< of a tile of rows
/// Adjacent groups begin at any row, but what TMA reads begins at a multiple of 16 bytes: with up to three scales of
/// rows before the tile. A box has 256 of them at most, so that 256 rows take two, each of a multiple of 128 bytes.
constexpr bool kAnyFirstRow = GROUPED == ADJACENT;
constexpr int kScaleBoxes = kAnyFirstRow && kScaledRows > 252 ? 2 : 1;
constexpr int kScaleBoxRows =
    kScaleBoxes == 2 ? (kScaledRows / 2 + 2 + 31) / 32 * 32 : kScaledRows + (kAnyFirstRow ? 4 : 0);
/// Of a stage.
constexpr int kScaleBytes = 4 * kScaleBoxRows * kScaleBoxes;
/// From one stage's scales of rows to the next's: TMA writes from multiples of 128 bytes on.
constexpr int kRowScaleBytes = (kScaleBytes + 127) / 128 * 128;
static_assert(BK_BYTES == kScaleBlock && ELEM_BYTES == 1, "a stage is a block of scales");

/// Weights of a warpgroup's tile lie in this many blocks of scales.
constexpr int kWeights = SWAP_AB ? kRows : BN;
constexpr int kWeightScales = kScaleBlock % kWeights == 0 ? 1 : 2;
static_assert(kWeightScales == 1 || !SWAP_AB, "a warpgroup's rows of swapped operands have one scale");

/// Where a thread reads scales.
struct ScaleSource {
  unsigned rows;         ///< stage 0's scale of its first row
  const float* weights;  ///< of its first weights, and of the tile's first block along K
  int next_weights;      ///< from there to those of the next 128 weights
  int former;            ///< weights of the tile that have the former scale
};

/// The scales of one block along K.
struct Scales {
  static constexpr int kCount = SWAP_AB ? kInstructionAccumulators / 2 : 2 * kInstructions;
  float rows[kCount];

  __device__ __forceinline__ void read(unsigned from) {
#pragma unroll
    for (int i = 0; i < kCount; i += SWAP_AB ? 2 : 1) {
      if constexpr (SWAP_AB && kAnyFirstRow) {  // at no multiple of 8 bytes
        rows[i] = __uint_as_float(load_shared(from + i / 2 * 32));
        rows[i + 1] = __uint_as_float(load_shared(from + i / 2 * 32 + 4));
      } else if constexpr (SWAP_AB) {
        load_shared(rows[i], rows[i + 1], from + i / 2 * 32);
      } else {
        rows[i] = __uint_as_float(load_shared(from + (i / 2 * 64 + i % 2 * 8) * 4));
      }
    }
  }
};

/// Adds an instruction's scaled sums: those of 64 rows of the left operand.
__device__ __forceinline__ void add_scaled(Accumulator (&acc)[kInstructionAccumulators],
                                           const Accumulator (&sums)[kInstructionAccumulators], const Scales& scales,
                                           const float (&weights)[2], int former, int instruction) {
  if constexpr (SWAP_AB) {
#pragma unroll
    for (int i = 0; i < kInstructionAccumulators; ++i)
      acc[i] = fmaf(scales.rows[i / 4 * 2 + i % 2] * weights[0], sums[i], acc[i]);
  } else {
    float both[2][2];  // of the upper and the lower row, with the former and the latter weights
#pragma unroll
    for (int i = 0; i < 4; ++i) both[i / 2][i % 2] = scales.rows[2 * instruction + i / 2] * weights[i % 2];
#pragma unroll
    for (int i = 0; i < kInstructionAccumulators; ++i) {
      const float* const two = both[i / 2 % 2];
      const float scale = kWeightScales == 1 || i / 4 * 8 < former ? two[0] : two[1];
      acc[i] = fmaf(scale, sums[i], acc[i]);
    }
  }
}

__device__ __forceinline__ void issue_block(Accumulator (&sums)[kInstructionAccumulators], unsigned left,
                                            unsigned right) {
  warpgroup_arrive();
#pragma unroll
  for (int k = 0; k < kBlockK; k += kInstructionK)
    wgmma(sums, Left::descriptor(left + Left::offset(0, k)), Right::descriptor(right + Right::offset(0, k)), k > 0);
  warpgroup_commit();
}

/// A warpgroup that starts later than the other one by a block's products finds the tensor cores free when the other
/// one adds, from then on.
enum class Start { kAtOnce, kFirst, kSecond };
constexpr int kSecondStarts = 1;  ///< a named barrier

/// Computes a tile from `blocks` stages, from the pipeline state `now` on. Scales of weights are read kBlockStride
/// blocks apart.
template <int kBlockStride>
__device__ __forceinline__ void multiply_block_scaled(Accumulators& acc, int blocks, PipelineState<STAGES>& now,
                                                      const ConsumerParams& from, const ScaleSource& of, Start start) {
  // Where registers allow, all of a warpgroup's instructions are under way before the first one's sums are added.
  constexpr int kAtOnce = kAccumulators <= 64 ? kInstructions : 1;
  static_assert(kInstructions <= 2, "waits are for one other instruction at most");
#pragma unroll
  for (int i = 0; i < kAccumulators; ++i) acc[i / kInstructionAccumulators][i % kInstructionAccumulators] = 0.0f;
  float weights[2] = {__ldg(of.weights), kWeightScales == 1 ? 0.0f : __ldg(of.weights + of.next_weights)};
  if (start == Start::kSecond) named_barrier_sync_unaligned<256>(kSecondStarts);
#pragma unroll 1
  for (int block = 0; block < blocks; ++block) {
    wait_full(from.full + 8 * now.stage, now.parity);
    const unsigned stage = now.stage * (kStageBytes / 16), left = from.left + stage, right = from.right + stage;
    Scales scales;
    scales.read(of.rows + now.stage * kRowScaleBytes);
    float next[2] = {};
#pragma unroll
    for (int first = 0; first < kInstructions; first += kAtOnce) {
      Accumulator sums[kAtOnce][kInstructionAccumulators];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) issue_block(sums[i], left + Left::offset((first + i) * 64, 0), right);
      if (first == 0 && block + 1 < blocks) {
        const float* const later = of.weights + (block + 1) * kBlockStride;
        next[0] = __ldg(later);
        if (kWeightScales == 2) next[1] = __ldg(later + of.next_weights);
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (i + 1 < kAtOnce) {
          warpgroup_wait<1>();
        } else {
          warpgroup_wait<0>();
        }
        warpgroup_fence_operand(sums[i]);
        if (start == Start::kFirst && first + i == 0) {
          named_barrier_sync_unaligned<256>(kSecondStarts);
          start = Start::kAtOnce;
        }
        if (first + i + 1 == kInstructions) consumer_release(from.release, from.release + 8 * now.stage);
        add_scaled(acc[first + i], sums[i], scales, weights, of.former, first + i);
      }
    }
    weights[0] = next[0], weights[1] = next[1];
    now.advance();
  }
}

}  // namespace pgtune::product
