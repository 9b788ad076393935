// SPDX-License-Identifier: MIT
// The consumer of products whose operands have a scale for each block of 128 along K: the tensor cores start from zero
// in each block, and its sums are scaled and added in float32. One operand, the rows, has a scale of its own for each
// row, which the producer puts beside the stage; the other one, the weights, one for 128 of its rows.
#pragma once

#include "device/mainloop/pipeline_state.cuh"
#include "device/mainloop/wgmma_config.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/shared_memory.cuh"
#include "device/ptx/special_registers.cuh"

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
/// Columns of the tile that have one scale, wherever the tile begins, and how many times as many it has.
constexpr int kChunkColumns = kWeightScales == 1 ? BN : BN % 64 == 0 ? 64 : BN % 32 == 0 ? 32 : 16;
constexpr int kChunks = SWAP_AB ? 1 : BN / kChunkColumns;
static_assert(SWAP_AB || BN % kChunkColumns == 0, "chunks must be whole");
static_assert(kInstructions <= 2, "steps are counted in pairs");
static_assert(kWeightScales == 1 || !SWAP_AB, "a warpgroup's rows of swapped operands have one scale");

/// Where a warp reads scales.
struct ScaleSource {
  unsigned rows;         ///< stage 0's scale of this thread's first row
  const float* weights;  ///< of its first weights, and of the tile's first block along K
  int next_weights;      ///< from there to those of the next 128 weights
  int former;            ///< weights of the tile that have the former scale
};

/// What one block's sums are multiplied by: the scale of a row times that of the weights.
class Scales {
  static constexpr int kRowCount = SWAP_AB ? kInstructionAccumulators / 2 : 2 * kInstructions;

 public:
  static constexpr int kCount = kRowCount * kChunks;

  /// The rows' scales. Read before products are issued: tensor cores that have begun would wait for the rest of them.
  __device__ __forceinline__ void read(unsigned from) {
#pragma unroll
    for (int i = 0; i < kRowCount; i += SWAP_AB ? 2 : 1) {
      if constexpr (SWAP_AB && kAnyFirstRow) {  // at no multiple of 8 bytes
        rows_[i] = __uint_as_float(load_shared(from + i / 2 * 32));
        rows_[i + 1] = __uint_as_float(load_shared(from + i / 2 * 32 + 4));
      } else if constexpr (SWAP_AB) {
        load_shared(rows_[i], rows_[i + 1], from + i / 2 * 32);
      } else {
        rows_[i] = __uint_as_float(load_shared(from + (i / 2 * 64 + i % 2 * 8) * 4));
      }
    }
  }
  template <class Weights>
  __device__ __forceinline__ void multiply(const Weights& weights, int former) {
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      const float of_weights = kChunks == 1 || chunk * kChunkColumns < former ? weights[0] : weights[kWeightScales - 1];
#pragma unroll
      for (int i = 0; i < kRowCount; ++i) products_[chunk][i] = rows_[i] * of_weights;
    }
  }
  /// Adds an instruction's scaled sums: those of 64 rows of the left operand.
  __device__ __forceinline__ void add(Accumulator (&acc)[kInstructionAccumulators],
                                      const Accumulator (&sums)[kInstructionAccumulators], int instruction) const {
#pragma unroll
    for (int i = 0; i < kInstructionAccumulators; ++i) {
      const float scale =
          SWAP_AB ? products_[0][i / 4 * 2 + i % 2] : products_[i / 4 * 8 / kChunkColumns][2 * instruction + i / 2 % 2];
      acc[i] = fmaf(scale, sums[i], acc[i]);
    }
  }

 private:
  float rows_[kRowCount], products_[kChunks][kRowCount];
};

/// A warpgroup that starts later than the other one by a block's products finds the tensor cores free when the other
/// one adds, from then on.
enum class Start { kAtOnce, kFirst, kSecond };
constexpr int kSecondStarts = 1;  ///< a named barrier

/// Sums that a thread has at a time. Where registers allow there are two instructions' of them, so that the tensor
/// cores have the next products to do while a warpgroup adds the last ones. Two warpgroups with few columns fill in for
/// each other anyhow, and lost by it what more instructions in turn cost.
constexpr int kRegisters = kConsumers == 3 ? 160 : CTAS_PER_SM == 2 ? 216 : 232;
constexpr int kOtherRegisters = Scales::kCount + 4 * kWeightScales + (K_SLICES > 1 ? 36 : 24);
constexpr bool kFitTwice = kAccumulators + 2 * kInstructionAccumulators + kOtherRegisters <= kRegisters;
constexpr int kSumBuffers = kFitTwice && (kConsumers == 1 || kAccumulators >= 64) ? 2 : 1;

/// The scales of a warpgroup's weights, kBlockStride blocks along K apart. The lanes of a warp hold those of 64 blocks,
/// two each: a scale that is read when it is wanted comes from L2 or further for every eighth block, and takes longer
/// than the products that are to hide it. Whole warps call all of it.
template <int kBlockStride>
class WeightScales {
 public:
  static constexpr int kAtOnce = 64;

  __device__ __forceinline__ WeightScales(const ScaleSource& of, int blocks) : of_(of), last_(blocks - 1) {}
  /// Those of kAtOnce blocks from `block` on.
  __device__ __forceinline__ void read(int block) {
    const float* const early = of_.weights + min(block + lane_index(), last_) * kBlockStride;
    const float* const late = of_.weights + min(block + lane_index() + 32, last_) * kBlockStride;
#pragma unroll
    for (int i = 0; i < kWeightScales; ++i) {
      early_[i] = __ldg(early + i * of_.next_weights);
      late_[i] = __ldg(late + i * of_.next_weights);
    }
  }
  /// Goes to one of the blocks that were read, by its number among all or among them.
  __device__ __forceinline__ void take(int block) {
#pragma unroll
    for (int i = 0; i < kWeightScales; ++i)
      now_[i] = __shfl_sync(0xffffffff, block / 32 % 2 == 0 ? early_[i] : late_[i], block % 32);
  }
  /// Of that block, those of the former and of the latter weights.
  __device__ __forceinline__ float operator[](int i) const { return now_[i]; }

 private:
  const ScaleSource& of_;
  int last_;
  float early_[kWeightScales], late_[kWeightScales], now_[kWeightScales];
};

__device__ __forceinline__ void issue_products(Accumulator (&sums)[kInstructionAccumulators],
                                               const ConsumerParams& from, int pipeline_stage, int instruction) {
  const unsigned stage = pipeline_stage * (kStageBytes / 16), right = from.right + stage;
  const unsigned left = from.left + stage + Left::offset(instruction * 64, 0);
  warpgroup_arrive();
#pragma unroll
  for (int k = 0; k < kBlockK; k += kInstructionK)
    wgmma(sums, Left::descriptor(left + Left::offset(0, k)), Right::descriptor(right + Right::offset(0, k)), k > 0);
  warpgroup_commit();
}

/// Tells the producers that a stage has been read.
__device__ __forceinline__ void release(PipelineState<STAGES>& now, const ConsumerParams& from) {
  consumer_release(from.release, from.release + 8 * now.stage);
  now.advance();
}

/// A tile with one buffer of sums: kCount instructions of each block in turn.
template <int kBlockStride, int kCount>
__device__ __forceinline__ void multiply_in_turn(Accumulators& acc, int blocks, PipelineState<STAGES>& now,
                                                 const ConsumerParams& from, const ScaleSource& of, Start start) {
  WeightScales<kBlockStride> weights(of, blocks);
  if (start == Start::kSecond) named_barrier_sync_unaligned<256>(kSecondStarts);
  for (int first = 0; first < blocks; first += weights.kAtOnce) {
    weights.read(first);
#pragma unroll 1
    for (int i = 0; i < min(blocks - first, weights.kAtOnce); ++i) {
      wait_full(from.full + 8 * now.stage, now.parity);
      Scales scales;
      scales.read(of.rows + now.stage * kRowScaleBytes);
      const int stage = now.stage;
#pragma unroll
      for (int instruction = 0; instruction < kCount; ++instruction) {
        Accumulator sums[kInstructionAccumulators];
        issue_products(sums, from, stage, instruction);
        if (instruction == 0) {
          weights.take(i);
          scales.multiply(weights, of.former);
        }
        warpgroup_wait<0>();
        warpgroup_fence_operand(sums);
        if (instruction == 0 && start == Start::kFirst) {
          named_barrier_sync_unaligned<256>(kSecondStarts);
          start = Start::kAtOnce;
        }
        if (instruction + 1 == kCount) release(now, from);
        scales.add(acc[instruction], sums, instruction);
      }
    }
  }
}

/// A tile with two buffers of sums, computed in steps: an instruction's rows of a block. A step is issued before the
/// sums of the last one are added.
template <int kBlockStride>
class OverlappedTile {
 public:
  __device__ __forceinline__ OverlappedTile(Accumulators& acc, PipelineState<STAGES>& now, const ConsumerParams& from,
                                            const ScaleSource& of, int blocks, Start start)
      : acc_(acc), now_(now), issued_(now), from_(from), of_(of), weights_(of, blocks), start_(start) {
    weights_.read(0);
    weights_.take(0);
    if (start_ == Start::kSecond) named_barrier_sync_unaligned<256>(kSecondStarts);
  }

  /// Of two steps that follow each other kStep is 0 and 1, then 2 and so on.
  template <int kStep>
  __device__ __forceinline__ void issue() {
    constexpr int kInstruction = kStep % kInstructions;
    if (kInstruction == 0) wait_full(from_.full + 8 * issued_.stage, issued_.parity);
    if (kStep > 0 && (kStep - 1) % kInstructions == 0) read_scales();  // of the step before, which is added next
    issue_products(sums_[kStep % 2], from_, issued_.stage, kInstruction);
    if (kInstruction + 1 == kInstructions) issued_.advance();
  }

  /// Adds a step's sums. kIssued steps have been issued after it.
  template <int kStep, int kIssued>
  __device__ __forceinline__ void add() {
    constexpr int kInstruction = kStep % kInstructions;
    Accumulator(&sums)[kInstructionAccumulators] = sums_[kStep % 2];
    if (kInstruction == 0) {
      if (kIssued == 0) read_scales();
      scales_.multiply(weights_, of_.former);
      next_weights();
    }
    warpgroup_wait<kIssued>();
    warpgroup_fence_operand(sums);
    if (kInstruction == 0 && start_ == Start::kFirst) {
      named_barrier_sync_unaligned<256>(kSecondStarts);
      start_ = Start::kAtOnce;
    }
    if (kInstruction + 1 == kInstructions) release(now_, from_);
    scales_.add(acc_[kInstruction], sums, kInstruction);
  }

 private:
  __device__ __forceinline__ void read_scales() { scales_.read(of_.rows + now_.stage * kRowScaleBytes); }
  __device__ __forceinline__ void next_weights() {
    ++block_;
    if (block_ % weights_.kAtOnce == 0) weights_.read(block_);
    weights_.take(block_);
  }

  Accumulators& acc_;
  PipelineState<STAGES>& now_;    ///< of the step that is added next
  PipelineState<STAGES> issued_;  ///< of the step that is issued next
  const ConsumerParams& from_;
  const ScaleSource& of_;
  WeightScales<kBlockStride> weights_;
  int block_ = 0;
  Start start_;
  Scales scales_;
  Accumulator sums_[2][kInstructionAccumulators];
};

/// Computes a tile from `blocks` stages, from the pipeline state `now` on. Scales of weights are read kBlockStride
/// blocks apart. The warpgroup's first `instructions` instructions have rows that are wanted; what the others would
/// compute may be zero.
template <int kBlockStride>
__device__ __forceinline__ void multiply_block_scaled(Accumulators& acc, int blocks, PipelineState<STAGES>& now,
                                                      const ConsumerParams& from, const ScaleSource& of, Start start,
                                                      int instructions) {
#pragma unroll
  for (int i = 0; i < kAccumulators; ++i) acc[i / kInstructionAccumulators][i % kInstructionAccumulators] = 0.0f;
  if (instructions == 0) {
#pragma unroll 1
    for (; blocks > 0; --blocks) {
      wait_full(from.full + 8 * now.stage, now.parity);
      release(now, from);
    }
  } else if constexpr (kSumBuffers == 1) {
    if (instructions == kInstructions) {
      multiply_in_turn<kBlockStride, kInstructions>(acc, blocks, now, from, of, start);
    } else {
      multiply_in_turn<kBlockStride, 1>(acc, blocks, now, from, of, start);
    }
  } else {
    OverlappedTile<kBlockStride> tile(acc, now, from, of, blocks, start);
    int steps = blocks * kInstructions;  // whose sums have not been added
    tile.template issue<0>();
#pragma unroll 1
    for (; steps > 2; steps -= 2) {
      tile.template issue<1>();
      tile.template add<0, 1>();
      tile.template issue<2>();
      tile.template add<1, 1>();
    }
    if (steps == 2) {
      tile.template issue<1>();
      tile.template add<0, 1>();
      tile.template add<1, 0>();
    } else {
      tile.template add<0, 0>();
    }
  }
}

}  // namespace pgtune::product
