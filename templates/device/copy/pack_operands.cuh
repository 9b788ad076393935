// SPDX-License-Identifier: MIT
// The kernel that runs before sgemm_tma and packs operands that TMA cannot read as they lie.
#pragma once

#include "device/copy/pack.cuh"
#include "device/ptx/programmatic_dependent_launch.cuh"

/// Packs those of A and B that need it into workspace[batch][k][origin + row or column]: it transposes an operand that
/// lies along k and copies one that does not. CTAs before `tiles_a` have A's tiles, the others B's.
extern "C" __global__ void __launch_bounds__(pgtune::kPackThreads)
    pack_operands(const float* A, const float* B, float* workspace, int M, int N, int K, long long lda, long long ldb,
                  long long stride_a, long long stride_b, long long ld_packed, long long stride_packed, int b_origin,
                  int tiles_a, int a_along_k, int b_along_k) {
  // Dynamic, so that it does not count as sgemm_tma's where both are in one module; declared as there.
  extern __shared__ __align__(1024) float all_stages[];
  pgtune::griddepcontrol_wait();
  pgtune::griddepcontrol_launch_dependents();
  const bool of_a = static_cast<int>(blockIdx.x) < tiles_a;
  const int tile = static_cast<int>(blockIdx.x) - (of_a ? 0 : tiles_a), along_k = (K - 1) / pgtune::kPackTile + 1;
  const int outer = tile / along_k * pgtune::kPackTile, k = tile % along_k * pgtune::kPackTile;
  const float* const in = of_a ? A + blockIdx.y * stride_a : B + blockIdx.y * stride_b;
  float* const out = workspace + blockIdx.y * stride_packed + (of_a ? 0 : b_origin);
  const int lines = of_a ? M : N;
  const long long ld = of_a ? lda : ldb;
  if (of_a ? a_along_k : b_along_k) {
    pgtune::transpose_tile(reinterpret_cast<pgtune::PackLine*>(all_stages), in, out, lines, K, ld, ld_packed, outer, k);
  } else {
    pgtune::copy_tile(in, out, K, lines, ld, ld_packed, k, outer);
  }
}
