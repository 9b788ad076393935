// SPDX-License-Identifier: MIT
// From the arguments of a cuBLAS call to its key.
#pragma once

#include "preload/shim/abi.hpp"
#include "preload/shim/key.hpp"

namespace pgtune::preload {

/// The arguments of a cuBLAS call, column-major. `compute` 0: by the type of A.
struct BlasArguments {
  Call call;
  Handle handle;
  int op_a = kOpN, op_b = kOpN;
  std::int64_t m = 0, n = 0, k = 0;
  const void *alpha = nullptr, *beta = nullptr;
  const void *a = nullptr, *b = nullptr, *c = nullptr;
  int type_a = kR32F, type_b = kR32F, type_c = kR32F, compute = kCompute32F;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0, batch = 1;
};

/// As cublasLtMatmul has them.
struct LtArguments {
  const void *desc, *alpha, *a, *a_layout, *b, *b_layout, *beta, *c, *c_layout;
  void* d;
  const void* d_layout;
};

Stream stream_of(Major major, Handle handle);
Key key_of(Major major, const BlasArguments& call);
Key key_of(Major major, const LtArguments& call);
const void* bias_of(Major major, const LtArguments& call);

}  // namespace pgtune::preload
