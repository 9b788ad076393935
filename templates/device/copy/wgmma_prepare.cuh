// SPDX-License-Identifier: MIT
// The kernel that runs before gemm_wgmma and writes an operand into the workspace: it copies one whose lines start
// where TMA cannot read them, transposes one that tensor cores take only along K, or splits one into parts.
#pragma once

#include "device/ptx/programmatic_dependent_launch.cuh"
#if PARTS > 1
#include "device/copy/split_float.cuh"
#else
#include "device/copy/prepare_operand.cuh"
#endif

/// An operand as it lies in memory: matrices with `lines` rows or columns, `ld` elements from line to line and `stride`
/// elements from matrix to matrix.
struct SourceOperand {
  const unsigned char* first;
  int lines;
  long long ld, stride;
  bool along_k;
  bool aligned;      ///< its lines start at multiples of 16 bytes where it is split, else of 4
  long long origin;  ///< its first line in the workspace
};

/// Writes in[i][k], or in[k][i] where the operand does not lie along K, to workspace[part][origin + i][k], for a tile
/// of the lines and of K.
__device__ __forceinline__ void prepare_tile(const SourceOperand& in, unsigned char* workspace, int depth,
                                             long long ld_workspace, long long stride_workspace, int tile) {
  const long long batch = blockIdx.z;
  const unsigned char* const from = in.first + batch * in.stride * ELEM_BYTES;
  unsigned char* const to = workspace + (batch * PARTS * stride_workspace + in.origin * ld_workspace) * PART_BYTES;
#if PARTS > 1
  pgtune::split_tile<PARTS>({reinterpret_cast<const float*>(from), reinterpret_cast<char*>(to), in.lines, depth, in.ld,
                             ld_workspace, stride_workspace, in.along_k, in.aligned},
                            tile * pgtune::kSplitTile, static_cast<int>(blockIdx.y) * pgtune::kSplitTile);
#else
  using Tile = pgtune::PrepareTile<ELEM_BYTES>;
  Tile::prepare({from, to, in.lines, depth, in.ld, ld_workspace, in.along_k, in.aligned}, tile * Tile::kLines,
                static_cast<int>(blockIdx.y) * Tile::kBlockK);
#endif
}

/// The first `tiles_of_a` CTAs along x prepare A, those after them B.
extern "C" __global__ void __launch_bounds__(256)
    prepare_operands(const unsigned char* A, const unsigned char* B, unsigned char* workspace, int rows, int columns,
                     int depth, long long lda, long long ldb, long long stride_a, long long stride_b, int a_along_k,
                     int b_along_k, int a_aligned, int b_aligned, int a_origin, int b_origin, int tiles_of_a,
                     long long ld_workspace, long long stride_workspace) {
  pgtune::griddepcontrol_wait();
  if constexpr (DEPENDENT_LAUNCH) pgtune::griddepcontrol_launch_dependents();
  const int tile = static_cast<int>(blockIdx.x);
  const bool is_a = tile < tiles_of_a;
  const SourceOperand source = is_a
                                   ? SourceOperand{A, rows, lda, stride_a, a_along_k != 0, a_aligned != 0, a_origin}
                                   : SourceOperand{B, columns, ldb, stride_b, b_along_k != 0, b_aligned != 0, b_origin};
  prepare_tile(source, workspace, depth, ld_workspace, stride_workspace, is_a ? tile : tile - tiles_of_a);
}
