// SPDX-License-Identifier: MIT
// What a stage of gemm_mma's pipeline holds.
#pragma once

#include "device/copy/mma_tile.cuh"

namespace pgtune::product {

constexpr int kBlockK = BK_BYTES / ELEM_BYTES;  ///< steps of K in a stage
constexpr int kSteps = BK_BYTES / 32;           ///< instructions along them

using TileA = MmaTile<true, TRANS_A == 0, ELEM_BYTES, BM, kBlockK, SMEM_LAYOUT == LABEL_pad>;
using TileB = MmaTile<false, TRANS_B != 0, ELEM_BYTES, BN, kBlockK, SMEM_LAYOUT == LABEL_pad>;
constexpr int kStageBytes = TileA::kBytes + TileB::kBytes;

}  // namespace pgtune::product
