// SPDX-License-Identifier: MIT
// What the measuring half says of each dtype, value by value. Needs no GPU.
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "tests/gpu/with_operation.hpp"
#include "tuner/gpu/baseline/baseline_operands.hpp"
#include "tuner/gpu/baseline/cublaslt_matmul.hpp"
#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/measure/check/operand_layout.hpp"
#include "tuner/gpu/measure/check/tensors.hpp"

namespace pgtune::gpu {
namespace {

using enum ElementType;

Problem problem_in(Dtype dtype, const char* shape = "33x33x33") {
  Problem problem = parse_shape(shape).value();
  problem.dtype = dtype;
  return with_default_strides(problem).value();
}

struct Arithmetic {
  Dtype dtype;
  cublasComputeType_t compute;
  cudaDataType_t scale, a, b, c;
  bool tensor_cores, fast_accumulation;
};

TEST(CublasLtTypes, EachDtypeHasItsOwn) {
  const auto f32 = CUDA_R_32F;
  const std::vector<Arithmetic> expected{
      {Dtype::kF32, CUBLAS_COMPUTE_32F, f32, f32, f32, f32, false, false},
      {Dtype::kTf32, CUBLAS_COMPUTE_32F_FAST_TF32, f32, f32, f32, f32, true, false},
      {Dtype::kTf32x3, CUBLAS_COMPUTE_32F, f32, f32, f32, f32, false, false},
      {Dtype::kF16, CUBLAS_COMPUTE_32F, f32, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, true, false},
      {Dtype::kBf16, CUBLAS_COMPUTE_32F, f32, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, true, false},
      {Dtype::kE4m3, CUBLAS_COMPUTE_32F, f32, CUDA_R_8F_E4M3, CUDA_R_8F_E4M3, CUDA_R_16BF, true, true},
      {Dtype::kE5m2, CUBLAS_COMPUTE_32F, f32, CUDA_R_8F_E5M2, CUDA_R_8F_E4M3, CUDA_R_16BF, true, true},
      {Dtype::kInt8, CUBLAS_COMPUTE_32I, CUDA_R_32I, CUDA_R_8I, CUDA_R_8I, CUDA_R_32I, true, false}};
  ASSERT_EQ(expected.size(), all_dtypes().size());
  for (const Arithmetic& arithmetic : expected) {
    SCOPED_TRACE(to_string(arithmetic.dtype));
    const CublasLtTypes types = cublaslt_types(problem_in(arithmetic.dtype));
    EXPECT_EQ(types.compute, arithmetic.compute);
    EXPECT_EQ(types.scale, arithmetic.scale);
    EXPECT_EQ(types.a, arithmetic.a);
    EXPECT_EQ(types.b, arithmetic.b);
    EXPECT_EQ(types.c, arithmetic.c);
    EXPECT_EQ(types.tensor_cores, arithmetic.tensor_cores);
    EXPECT_EQ(types.fast_accumulation, arithmetic.fast_accumulation);
  }
}

TEST(CublasLtTypes, OperandsOfAByteAreStoredAlongK) {
  for (const Dtype dtype : all_dtypes()) {
    SCOPED_TRACE(to_string(dtype));
    const Problem problem = problem_in(dtype), solvable = BaselineOperands::solvable(problem);
    const bool narrow = element_bytes(dtype) == 1, float8 = dtype == Dtype::kE4m3 || dtype == Dtype::kE5m2;
    EXPECT_EQ(solvable.layout(), narrow ? "nt" : "nn");
    EXPECT_EQ(solvable.k, dtype == Dtype::kInt8 ? 36 : 33);
    EXPECT_EQ(solvable.lda, narrow ? 48 : 33);
    const auto larger = BaselineOperands::enlarged(problem);
    ASSERT_EQ(larger.has_value(), float8);
    EXPECT_EQ(larger ? larger->shape() : "", float8 ? "48x48x48" : "");
  }
}

TEST(CudaTypes, TensorMapsHaveThem) {
  EXPECT_EQ(tensor_map_type(TensorType::kFloat32), CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
  EXPECT_EQ(tensor_map_type(TensorType::kTfloat32), CU_TENSOR_MAP_DATA_TYPE_TFLOAT32);
  EXPECT_EQ(tensor_map_type(TensorType::kFloat16), CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
  EXPECT_EQ(tensor_map_type(TensorType::kBfloat16), CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
  EXPECT_EQ(tensor_map_type(TensorType::kUint8), CU_TENSOR_MAP_DATA_TYPE_UINT8);
  EXPECT_EQ(tensor_map_type(TensorType::kInt32), CU_TENSOR_MAP_DATA_TYPE_INT32);
}

/// In units of S, without an epilogue: rounding of sums and products.
double expected_per_scale(Dtype dtype, double k) {
  const double products = std::min(1.0, 12.8 / std::sqrt(k));
  const double rounded = 2 * (std::sqrt(k) + 4) * 0x1p-24, cut_off = 2 * rounded;
  switch (dtype) {
    case Dtype::kF32:
      return rounded;
    case Dtype::kTf32:
      return cut_off + 0x1p-9 * products;
    case Dtype::kTf32x3:
      return cut_off + 0x1p-19 * products;
    case Dtype::kF16:
    case Dtype::kBf16:
      return cut_off;
    case Dtype::kE4m3:
    case Dtype::kE5m2:
      return 0x1p-10;
    case Dtype::kInt8:
      return 0;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

struct ResultBound {
  ElementType type;
  double per_result, absolute, largest;
};

TEST(ErrorBound, EachDtypeHasItsOwn) {
  const std::vector<ResultBound> results{{kFloat32, 0, 0x1p-126, 0x1.fffffep127},
                                         {kFloat16, 0x1p-11, 0x1p-25, 65504},
                                         {kBfloat16, 0x1p-8, 0x1p-126, 0x1.fep127},
                                         {kInt32, 0, 0.5, 2147483647}};
  for (const Dtype dtype : all_dtypes()) {
    for (const ElementType output : output_types(dtype)) {
      for (const std::int64_t k : {1, 16, 163, 164, 4096, 100000}) {
        SCOPED_TRACE(testing::Message() << to_string(dtype) << ' ' << to_string(output) << ' ' << k);
        Problem problem = problem_in(dtype);
        problem.k = k;
        problem.output = output;
        problem.lda = problem.ldb = 0;
        const ErrorBound bound = error_bound(*numbers_of(with_default_strides(problem).value()).only_output());
        const auto result = std::find_if(results.begin(), results.end(),
                                         [&](const ResultBound& candidate) { return candidate.type == output; });
        ASSERT_NE(result, results.end());
        EXPECT_DOUBLE_EQ(bound.per_scale, expected_per_scale(dtype, static_cast<double>(k)) * (1 + result->per_result));
        EXPECT_EQ(bound.per_result, result->per_result);
        EXPECT_EQ(bound.absolute, result->absolute);
        EXPECT_EQ(bound.largest, result->largest);
      }
    }
  }
}

/// Equal, or both NaN.
bool same_number(double left, double right) { return left == right || (std::isnan(left) && std::isnan(right)); }

TEST(ElementValue, IsWhatCudaReads) {
  for (std::uint32_t bits = 0; bits < 1U << 16; ++bits) {
    const __half_raw raw{static_cast<unsigned short>(bits)};
    ASSERT_TRUE(same_number(element_value(kFloat16, bits), __half2float(raw))) << std::hex << bits;
  }
  for (std::uint32_t bits = 0; bits < 1U << 8; ++bits) {
    const auto cuda = [&](__nv_fp8_interpretation_t type) {
      return __half2float(__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(bits), type));
    };
    ASSERT_TRUE(same_number(element_value(kE4m3, bits), cuda(__NV_E4M3))) << std::hex << bits;
    ASSERT_TRUE(same_number(element_value(kE5m2, bits), cuda(__NV_E5M2))) << std::hex << bits;
  }
}

TEST(ElementTypes, AreNumberedAsInKernels) {
  std::ifstream file(PGTUNE_SOURCE_DIR "/tuner/gpu/measure/check/kernels/elements.cuh");
  std::stringstream text;
  text << file.rdbuf();
  std::string names;
  for (const char* name : {"kFloat32", "kFloat16", "kBfloat16", "kE4m3", "kE5m2", "kInt8", "kInt32"})
    names += (names.empty() ? "" : ", ") + std::string(name);
  EXPECT_NE(text.str().find("enum Type { " + names + " };"), std::string::npos);
  const std::vector<ElementType> in_that_order{kFloat32, kFloat16, kBfloat16, kE4m3, kE5m2, kInt8, kInt32};
  EXPECT_EQ(all_element_types(), in_that_order);
}

TEST(Poison, OfAnElementIsWhatLiesThere) {
  EXPECT_EQ(poison_at(1024, 4), kPoison);
  EXPECT_EQ(poison_at(1024, 2), 0x7fc5U);
  EXPECT_EQ(poison_at(1026, 2), 0x7fc5U);
  EXPECT_EQ(poison_at(1024, 1), 0xc5U);
  EXPECT_EQ(poison_at(1027, 1), 0x7fU);
}

}  // namespace
}  // namespace pgtune::gpu
