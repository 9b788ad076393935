// SPDX-License-Identifier: MIT
// The kernel that runs before gemm_mma and copies an operand whose rows cp.async could only read in small pieces.
#pragma once

#include "device/copy/load_piece.cuh"

/// Copies an operand whose rows are not aligned to rows that are, `at` bytes into the workspace, 16 bytes a thread at a
/// time. `columns` counts elements along a row.
extern "C" __global__ void __launch_bounds__(256)
    pack_operand(const char* from, char* workspace, long long at, int rows, int columns, long long ld, long long stride,
                 long long ld_packed, long long stride_packed) {
  const int byte = static_cast<int>(blockIdx.x * 64 + threadIdx.x % 64) * 16, left = columns * ELEM_BYTES - byte;
  if (left <= 0) return;
  from += blockIdx.z * stride * ELEM_BYTES + byte;
  char* const to = workspace + at + blockIdx.z * stride_packed * ELEM_BYTES + byte;
  const int first = static_cast<int>(blockIdx.y) * 16, end = min(rows, first + 16);
#pragma unroll 4
  for (int row = first + static_cast<int>(threadIdx.x) / 64; row < end; row += 4) {
    unsigned piece[4];
    pgtune::load_piece<ELEM_BYTES>(piece, from + row * ld * ELEM_BYTES, min(left, 16));
    *reinterpret_cast<uint4*>(to + row * ld_packed * ELEM_BYTES) = make_uint4(piece[0], piece[1], piece[2], piece[3]);
  }
}
