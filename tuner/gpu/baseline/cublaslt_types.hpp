// SPDX-License-Identifier: MIT
// What cuBLASLt calls a problem's types and epilogue, and what it cannot take.
#pragma once

#include <cublasLt.h>

#include "tuner/model/problem.hpp"

namespace pgtune::gpu {

/// How cuBLASLt computes in a dtype, and which of its problems it takes.
struct CublasLtArithmetic {
  Dtype dtype;
  cublasComputeType_t compute;
  /// Products on tensor cores are what was asked for. Without it they are reduced precision, and no opponent.
  bool tensor_cores;
  /// Sums of e4m3 and e5m2 products stay in the tensor cores, which keep fewer bits of them than a float32. The fastest
  /// that cuBLASLt has, so what a kernel is compared with, however careful the kernel itself is.
  bool fast_accumulation;
  bool only_along_k;             ///< both operands stored along K (layout nt), their rows multiples of 16 bytes
  std::int64_t k_multiple;       ///< K has to be one
  std::int64_t extent_multiple;  ///< M, N, K and bytes of D's rows that it is sure to take
};
/// Throws std::out_of_range for what is no dtype.
[[nodiscard]] const CublasLtArithmetic& cublaslt_arithmetic(Dtype dtype);

struct CublasLtTypes {
  cublasComputeType_t compute;
  cudaDataType_t scale;  ///< of alpha and beta
  cudaDataType_t a, b, c;
  bool fast_accumulation, tensor_cores;  ///< see CublasLtArithmetic
};
[[nodiscard]] CublasLtTypes cublaslt_types(const Problem& problem);
/// Precondition: cublaslt_fuses() the activation.
[[nodiscard]] cublasLtEpilogue_t cublaslt_epilogue(const Epilogue& epilogue);

}  // namespace pgtune::gpu
