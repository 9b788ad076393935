// SPDX-License-Identifier: MIT
// What a stage of gemm_mma's ring holds.
#pragma once

#include "device/copy/mma_tile.cuh"

namespace pgtune::product {

constexpr int kDepth = DEPTH_BYTES / ELEM_BYTES;  ///< steps of K in a stage
constexpr int kSteps = DEPTH_BYTES / 32;          ///< instructions along them

using TileA = MmaTile<true, TRANS_A == 0, ELEM_BYTES, BM, kDepth, SMEM_LAYOUT == LABEL_pad>;
using TileB = MmaTile<false, TRANS_B != 0, ELEM_BYTES, BN, kDepth, SMEM_LAYOUT == LABEL_pad>;
constexpr int kStageBytes = TileA::kBytes + TileB::kBytes;

}  // namespace pgtune::product
