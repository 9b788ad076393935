// SPDX-License-Identifier: MIT
// A fallback ready to use, where the program defines PGTUNE_CUBLASLT_FALLBACK before it includes the header and links
// cuBLASLt.
#pragma once

#include <cublasLt.h>

#include "exported/gemm.hpp"

namespace pgtune_export {

/// A Fallback: cuBLASLt's first choice for the problem. `handle` (Policy::user) is a cublasLtHandle_t, and
/// Policy::fallback_workspace_bytes what it may use. not_supported where it does not compute the type or fuse the
/// epilogue; on cuda_error last_cuda_error() is below 0: the cublasStatus_t, negated. It asks cuBLASLt anew each time.
inline Status cublaslt_fallback(const Problem& problem, const Operands& o, void* workspace, std::size_t bytes,
                                CUstream stream, void* handle) noexcept {
  Problem p = problem;
  if (!detail::complete(p, o)) return Status::invalid_argument;
  cudaDataType_t type = CUDA_R_32F, out = CUDA_R_32F;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  switch (p.type) {
    case Type::f32:
    case Type::tf32x3:
      break;
    case Type::tf32:
      compute = CUBLAS_COMPUTE_32F_FAST_TF32;
      break;
    case Type::f16:
      type = CUDA_R_16F;
      break;
    case Type::bf16:
      type = CUDA_R_16BF;
      break;
    default:
      return Status::not_supported;
  }
  if (detail::out_of(p) != Element::f32) out = type;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  switch (p.epilogue.activation) {
    case Activation::none:
      if (p.epilogue.bias) epilogue = CUBLASLT_EPILOGUE_BIAS;
      break;
    case Activation::relu:
      epilogue = p.epilogue.bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
      break;
    case Activation::gelu:
      epilogue = p.epilogue.bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
      break;
    default:
      return Status::not_supported;
  }
  cublasStatus_t code = CUBLAS_STATUS_SUCCESS;
  const auto call = [&](cublasStatus_t result) {
    if (code == CUBLAS_STATUS_SUCCESS) code = result;
  };
  // Row-major matrices are the transposed column-major ones: D^T = op(B)^T op(A)^T.
  cublasLtMatmulDescOpaque_t description;
  const cublasOperation_t left = p.layout == Layout::nn || p.layout == Layout::tn ? CUBLAS_OP_N : CUBLAS_OP_T;
  const cublasOperation_t right = p.layout == Layout::nn || p.layout == Layout::nt ? CUBLAS_OP_N : CUBLAS_OP_T;
  call(cublasLtMatmulDescInit(&description, compute, CUDA_R_32F));
  call(cublasLtMatmulDescSetAttribute(&description, CUBLASLT_MATMUL_DESC_TRANSA, &left, sizeof left));
  call(cublasLtMatmulDescSetAttribute(&description, CUBLASLT_MATMUL_DESC_TRANSB, &right, sizeof right));
  call(cublasLtMatmulDescSetAttribute(&description, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
  if (p.epilogue.bias)
    call(cublasLtMatmulDescSetAttribute(&description, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &o.bias, sizeof o.bias));
  const auto matrix = [&](cublasLtMatrixLayoutOpaque_t& layout, cudaDataType_t of, std::int64_t rows,
                          std::int64_t columns, std::int64_t leading, std::int64_t stride) {
    const auto batch = static_cast<std::int32_t>(p.batch);
    call(cublasLtMatrixLayoutInit(&layout, of, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns),
                                  leading));
    call(cublasLtMatrixLayoutSetAttribute(&layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch));
    call(
        cublasLtMatrixLayoutSetAttribute(&layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride));
  };
  cublasLtMatrixLayoutOpaque_t a, b, d;
  matrix(b, type, detail::columns_b(p), detail::rows_b(p), p.ldb, p.stride_b);
  matrix(a, type, detail::columns_a(p), detail::rows_a(p), p.lda, p.stride_a);
  matrix(d, out, p.n, p.m, p.ldc, p.stride_c);
  cublasLtMatmulPreferenceOpaque_t preference;
  call(cublasLtMatmulPreferenceInit(&preference));
  call(cublasLtMatmulPreferenceSetAttribute(&preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
                                            sizeof bytes));
  const void* const c = o.beta != 0 ? o.c : o.d;
  const auto aligned = [&](cublasLtMatmulPreferenceAttributes_t attribute, const void* pointer) {
    const auto least = static_cast<std::uint32_t>(detail::alignment(detail::address(pointer), 0, 0, 1, 0));
    call(cublasLtMatmulPreferenceSetAttribute(&preference, attribute, &least, sizeof least));
  };
  aligned(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, o.b);
  aligned(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, o.a);
  aligned(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, c);
  aligned(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, o.d);
  cublasLtMatmulHeuristicResult_t found;
  int count = 0;
  const auto lt = static_cast<cublasLtHandle_t>(handle);
  if (code == CUBLAS_STATUS_SUCCESS)
    call(cublasLtMatmulAlgoGetHeuristic(lt, &description, &b, &a, &d, &d, &preference, 1, &found, &count));
  if (code == CUBLAS_STATUS_NOT_SUPPORTED || (code == CUBLAS_STATUS_SUCCESS && count == 0))
    return Status::not_supported;
  if (code == CUBLAS_STATUS_SUCCESS)
    call(cublasLtMatmul(lt, &description, &o.alpha, o.b, &b, o.a, &a, &o.beta, c, &d, o.d, &d, &found.algo, workspace,
                        bytes, stream));
  if (code == CUBLAS_STATUS_SUCCESS) return Status::ok;
  detail::last_error = -static_cast<int>(code);
  return Status::cuda_error;
}

}  // namespace pgtune_export
