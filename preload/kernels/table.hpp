// SPDX-License-Identifier: MIT
// What the preload library calls in a library of kernels (table.cpp). C++17 without pgtune, as both are compiled from
// it.
#pragma once

#include <cstddef>
#include <cstdint>

/// In the order of preload::Arithmetic.
enum PgtuneArithmetic : std::int32_t {
  kPgtuneF32,
  kPgtuneTf32,
  kPgtuneF16,
  kPgtuneBf16,
  kPgtuneE4m3,
  kPgtuneE5m2,
  kPgtuneInt8,
  kPgtuneTf32x3,
};

/// D[m,n] = activation(op(A) op(B) + beta C + bias), row-major, in `batch` packed matrices. Compared as bytes.
struct PgtuneProblem {
  std::int64_t m, n, k, batch, lda, ldb, ldc;
  std::int32_t arithmetic;   ///< PgtuneArithmetic
  std::int32_t layout;       ///< nn, nt, tn, tt
  std::int32_t float32_out;  ///< of f16 and bf16: C and D are float32
  std::int32_t bias;
  std::int32_t activation;  ///< 0: none, 1: relu, 2: gelu
  std::int32_t adds_c;      ///< beta is not 0
};

struct PgtuneOperands {
  const void *a, *b, *c, *bias;
  void* d;
  float beta;
};

enum PgtuneStatus : int {
  kPgtuneOk,
  kPgtuneNoKernel,
  kPgtuneMisaligned,
  kPgtuneWorkspace,
  kPgtuneOtherContext,
  kPgtuneOtherDevice,  ///< or another driver than the kernels need
  kPgtuneFailed,       ///< something may have been launched
};

/// Functions of pgtune_kernels_v1. A gemm is gemm_bytes of memory, aligned to 16, which select() fills.
struct PgtuneKernels {
  std::uint32_t problem_bytes, gemm_bytes;
  int (*prepare)(int device);
  int (*select)(const PgtuneProblem* problem, int device, void* gemm);
  std::size_t (*workspace_bytes)(const void* gemm);
  int (*is_of_family)(const void* gemm);  ///< not tuned for the very problem
  int (*run)(const void* gemm, const PgtuneOperands* operands, void* workspace, std::size_t bytes, void* stream);
  int (*last_error)();  ///< CUresult, in this thread
};
