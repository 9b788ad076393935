// SPDX-License-Identifier: MIT
// What cuBLASLt calls a problem's types and epilogue.
#pragma once

#include <cublasLt.h>

#include "tuner/model/problem.hpp"

namespace pgtune::gpu {

struct CublasLtTypes {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType_t scale = CUDA_R_32F;  ///< of alpha and beta
  cudaDataType_t a = CUDA_R_32F, b = CUDA_R_32F, c = CUDA_R_32F;
  /// Sums of e4m3 and e5m2 products stay in the tensor cores, which keep fewer bits of them than a float32. The fastest
  /// that cuBLASLt has, so what a kernel is compared with, however careful the kernel itself is.
  bool fast_accumulation = false;
  /// Products on tensor cores are what was asked for. Without it they are reduced precision, and no opponent.
  bool tensor_cores = false;
};

[[nodiscard]] CublasLtTypes cublaslt_types(const Problem& problem);
/// Precondition: cublaslt_fuses() the activation.
[[nodiscard]] cublasLtEpilogue_t cublaslt_epilogue(const Epilogue& epilogue);

}  // namespace pgtune::gpu
