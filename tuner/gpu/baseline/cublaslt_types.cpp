// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/cublaslt_types.hpp"

namespace pgtune::gpu {
namespace {

cudaDataType_t cuda_type(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
      return CUDA_R_32F;
    case ElementType::kFloat16:
      return CUDA_R_16F;
    case ElementType::kBfloat16:
      return CUDA_R_16BF;
    case ElementType::kE4m3:
      return CUDA_R_8F_E4M3;
    case ElementType::kE5m2:
      return CUDA_R_8F_E5M2;
    case ElementType::kInt8:
      return CUDA_R_8I;
    case ElementType::kInt32:
      break;
  }
  return CUDA_R_32I;
}

}  // namespace

CublasLtTypes cublaslt_types(const Problem& problem) {
  CublasLtTypes types;
  types.a = cuda_type(type_of_a(problem.dtype));
  types.b = cuda_type(type_of_b(problem.dtype));
  types.c = cuda_type(problem.type_of_c());
  // cuBLASLt has nothing for tf32x3: whoever wants its accuracy computes in strict float32.
  types.tensor_cores = problem.dtype != Dtype::kF32 && problem.dtype != Dtype::kTf32x3;
  if (problem.dtype == Dtype::kTf32) types.compute = CUBLAS_COMPUTE_32F_FAST_TF32;
  types.fast_accumulation = problem.dtype == Dtype::kE4m3 || problem.dtype == Dtype::kE5m2;
  if (problem.dtype == Dtype::kInt8) {
    types.compute = CUBLAS_COMPUTE_32I;
    types.scale = CUDA_R_32I;
  }
  return types;
}

cublasLtEpilogue_t cublaslt_epilogue(const Epilogue& epilogue) {
  switch (epilogue.activation) {
    case Activation::kRelu:
      return epilogue.bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case Activation::kGelu:
      return epilogue.bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    case Activation::kNone:
    case Activation::kSilu:
      break;
  }
  return epilogue.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

}  // namespace pgtune::gpu
