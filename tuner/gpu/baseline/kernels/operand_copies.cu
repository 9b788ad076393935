// SPDX-License-Identifier: MIT
// The copies that cuBLASLt needs where it does not take a problem's operands as they are stored. They are timed, so A
// and B are laid out by the very code that gemm_wgmma lays them out by, in one launch as there.
#include "templates/device/copy/prepare_operand.cuh"
#include "tuner/gpu/baseline/kernels/copy_rows.cuh"

namespace pgtune::gpu {

using Tile = PrepareTile<1>;
static_assert(Tile::kLines == kTileLines && Tile::kBlockK == kTileDepth, "as the host counts them");

/// Lines and steps of K from a tile on, as PrepareTile counts them. It asks only whether they reach a tile's end.
__device__ __forceinline__ int left_of(long long all, long long first) {
  constexpr long long kMore = 1 << 30;
  return static_cast<int>(all - first < kMore ? all - first : kMore);
}

/// Tile `tile` of the lines and `k_tile` of K. Addresses are those of the tile, so that no extent has to fit 32 bits.
__device__ __forceinline__ void lay_out_tile(const LineCopy& copy, long long depth, long long batch, unsigned tile,
                                             unsigned k_tile) {
  const long long line = static_cast<long long>(tile) * Tile::kLines;
  const long long k = static_cast<long long>(k_tile) * Tile::kBlockK;
  const long long in = batch * copy.stride_in + (copy.along_k ? line * copy.ld_in + k : k * copy.ld_in + line);
  const long long out = batch * copy.stride_out + line * copy.ld_out + k;
  Tile::prepare(
      {reinterpret_cast<const unsigned char*>(copy.in) + in, reinterpret_cast<unsigned char*>(copy.out) + out,
       left_of(copy.lines, line), left_of(depth, k), copy.ld_in, copy.ld_out, copy.along_k != 0, copy.aligned != 0},
      0, 0);
}

}  // namespace pgtune::gpu

/// Each matrix has ctas_of() CTAs: those of A's and B's tiles, the lines' tiles running first as in gemm_wgmma's
/// kernel, then those of C's rows and of the bias.
extern "C" __global__ void __launch_bounds__(pgtune::gpu::kRowCopyThreads)
    lay_out_operands(pgtune::gpu::OperandCopies copies) {
  const unsigned ctas = pgtune::gpu::ctas_of(copies);
  const unsigned batch = blockIdx.x / ctas, cta = blockIdx.x % ctas;
  const unsigned lines = copies.a.tiles + copies.b.tiles, tiles = lines * pgtune::gpu::tiles_along_k(copies);
  if (cta < tiles) {
    const unsigned tile = cta % lines;
    const bool is_a = tile < copies.a.tiles;
    pgtune::gpu::lay_out_tile(is_a ? copies.a : copies.b, copies.depth, batch, is_a ? tile : tile - copies.a.tiles,
                              cta / lines);
    return;
  }
  const unsigned piece = cta - tiles;
  const bool is_c = piece < copies.c.pieces;
  if (!is_c && batch != 0) return;
  pgtune::gpu::copy_rows_piece(is_c ? copies.c : copies.bias, batch, is_c ? piece : piece - copies.c.pieces,
                               static_cast<int>(threadIdx.x));
}

extern "C" __global__ void __launch_bounds__(pgtune::gpu::kRowCopyThreads) copy_rows(pgtune::gpu::RowCopy copy) {
  pgtune::gpu::copy_rows_piece(copy, blockIdx.x / copy.pieces, blockIdx.x % copy.pieces, static_cast<int>(threadIdx.x));
}
