// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/cublaslt_types.hpp"

#include <array>

#include "tuner/gpu/launch/cuda_types.hpp"
#include "tuner/util/enum_table.hpp"

namespace pgtune::gpu {
namespace {

// clang-format off
constexpr std::array<CublasLtArithmetic, kDtypeCount> kArithmetic{{
    //               compute                      tensor cores  fast   only along K  K of  extents of
    {Dtype::kF32,    CUBLAS_COMPUTE_32F,           false,        false, false,        1,    1},
    {Dtype::kTf32,   CUBLAS_COMPUTE_32F_FAST_TF32, true,         false, false,        1,    1},
    // cuBLASLt has nothing for tf32x3: whoever wants its accuracy computes in strict float32.
    {Dtype::kTf32x3, CUBLAS_COMPUTE_32F,           false,        false, false,        1,    1},
    {Dtype::kF16,    CUBLAS_COMPUTE_32F,           true,         false, false,        1,    1},
    {Dtype::kBf16,   CUBLAS_COMPUTE_32F,           true,         false, false,        1,    1},
    {Dtype::kE4m3,   CUBLAS_COMPUTE_32F,           true,         true,  true,         1,    16},
    {Dtype::kE5m2,   CUBLAS_COMPUTE_32F,           true,         true,  true,         1,    16},
    {Dtype::kInt8,   CUBLAS_COMPUTE_32I,           true,         false, true,         4,    1},
}};
// clang-format on
static_assert(one_row_each(kArithmetic, &CublasLtArithmetic::dtype));

}  // namespace

const CublasLtArithmetic& cublaslt_arithmetic(Dtype dtype) { return row_of(kArithmetic, dtype); }

CublasLtTypes cublaslt_types(const Problem& problem) {
  const CublasLtArithmetic& arithmetic = cublaslt_arithmetic(problem.dtype);
  return {.compute = arithmetic.compute,
          .scale = cuda_type(traits(problem.dtype).accumulator),
          .a = cuda_type(type_of_a(problem.dtype)),
          .b = cuda_type(type_of_b(problem.dtype)),
          .c = cuda_type(problem.type_of_c()),
          .fast_accumulation = arithmetic.fast_accumulation,
          .tensor_cores = arithmetic.tensor_cores};
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
