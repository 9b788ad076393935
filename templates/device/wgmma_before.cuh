// SPDX-License-Identifier: MIT
// Kernels that run before gemm_wgmma where an operand must be changed first, into the workspace: turned, where its
// elements are taken only along K, or split into parts.
#pragma once

#include "device/dependent_launch.cuh"
#if PARTS > 1
#include "device/split_float.cuh"
#else
#include "device/pack.cuh"
#include "device/transpose_bytes.cuh"
#endif

#if PARTS > 1

/// in[i][k], or in[k][i] where not along_k, becomes PARTS matrices, workspace[part][origin + i][k]; `wide`: its lines
/// start at multiples of 16 bytes.
extern "C" __global__ void __launch_bounds__(256)
    split_operand(const float* in, char* workspace, int depth, int lines, long long ld, long long stride,
                  long long origin, long long ld_workspace, long long part_stride, int along_k, int wide) {
  if constexpr (DEPENDENT_LAUNCH) pgtune::let_next_kernel_start();
  const long long batch = blockIdx.z;
  char* const out = workspace + (batch * PARTS * part_stride + origin * ld_workspace) * PART_BYTES;
  const pgtune::SplitPlan plan{in + batch * stride, out,         lines,        depth,    ld,
                               ld_workspace,        part_stride, along_k != 0, wide != 0};
  pgtune::split_tile<PARTS>(plan, static_cast<int>(blockIdx.x) * pgtune::kSplitTile,
                            static_cast<int>(blockIdx.y) * pgtune::kSplitTile);
  // Whoever waits for this kernel waits for the one before it too.
  if constexpr (DEPENDENT_LAUNCH) pgtune::await_earlier_kernels();
}

#else

/// An operand that lies along M or N, of elements that wgmma only takes along K, turned: in[k][i] becomes
/// workspace[origin + i][k].
extern "C" __global__ void __launch_bounds__(256)
    transpose_operand(const char* in, char* workspace, int depth, int length, long long ld, long long stride,
                      long long origin, long long ld_workspace, long long stride_workspace) {
  if constexpr (DEPENDENT_LAUNCH) pgtune::let_next_kernel_start();
  const int batch = static_cast<int>(blockIdx.z);
  in += batch * stride * ELEM_BYTES;
  workspace += (batch * stride_workspace + origin * ld_workspace) * ELEM_BYTES;
#if ELEM_BYTES == 4
  constexpr int kTile = pgtune::kPackTile;
  pgtune::transpose_tile(reinterpret_cast<const float*>(in), reinterpret_cast<float*>(workspace), depth, length, ld,
                         ld_workspace, static_cast<int>(blockIdx.y) * kTile, static_cast<int>(blockIdx.x) * kTile);
#else
  constexpr int kTile = pgtune::kByteTile;
  pgtune::transpose_byte_tile(reinterpret_cast<const unsigned char*>(in), reinterpret_cast<unsigned char*>(workspace),
                              depth, length, ld, ld_workspace, static_cast<int>(blockIdx.y) * kTile,
                              static_cast<int>(blockIdx.x) * kTile);
#endif
  if constexpr (DEPENDENT_LAUNCH) pgtune::await_earlier_kernels();
}

#endif
