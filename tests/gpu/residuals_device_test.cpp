// SPDX-License-Identifier: MIT
// Results that residuals judge, on the GPU: each one by what lies there, for the data that its launch began with, also
// where that launch has overwritten them; and a bound that tells nothing is refused.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "tests/gpu/operation_on_gpu.hpp"
#include "tuner/gpu/measure/check/checker.hpp"

namespace pgtune::gpu {
namespace {

using ::testing::HasSubstr;

// R = R / D in place: R D is to be what R was.
constexpr const char* kDivision = R"json({{
  "schema": 1, "name": "divide", "dimensions": [{{"name": "M"}}, {{"name": "N"}}],
  "buffers": [{{"name": "D", "type": "f32", "role": "in", "extents": ["N"], "fill": {{"uniform": [1, 3]}}}},
              {{"name": "R", "type": "f32", "role": "inout", "extents": ["M", "N"], "fill": {{"normal": [0, 1]}},
               "error": {{"rule": "residual", "factor": "{}"}}}}],
  "reference": {{"source": "divide_reference.cu", "kernels": [
    {{"symbol": "quotients", "grid": ["M"], "block": ["32"], "arguments": [{{"buffer": "D"}}, {{"buffer": "R"}}, {{"value": "R"}}, {{"int64": "N"}}]}},
    {{"symbol": "residuals", "grid": ["M"], "block": ["32"],
     "arguments": [{{"buffer": "D"}}, {{"buffer": "R"}}, {{"result": "R"}}, {{"value": "R"}}, {{"scale": "R"}}, {{"int64": "N"}}]}}]}},
  "flops": "M * N", "bytes": "8 * M * N", "unit": "GB/s"}})json";
constexpr const char* kQuotients = R"(#include "operation.cuh"
extern "C" __global__ void quotients(const void* d, const void* r, double* right, i64 n) {
  for (i64 j = threadIdx.x, at = blockIdx.x * n + j; j < n; j += blockDim.x, at += blockDim.x)
    right[at] = load_element(r, at, TYPE_R) / load_element(d, j, TYPE_D);
}
extern "C" __global__ void residuals(const void* d, const void* before, const void* r, double* residual, float* scale, i64 n) {
  for (i64 j = threadIdx.x, at = blockIdx.x * n + j; j < n; j += blockDim.x, at += blockDim.x) {
    const double product = load_element(r, at, TYPE_R) * load_element(d, j, TYPE_D);
    residual[at] = product - load_element(before, at, TYPE_R);
    scale[at] = static_cast<float>(fabs(product));
  }
})";
constexpr const char* kDivideTemplate = R"json({
  "schema": 1, "name": "divide_rows", "operation": "divide", "source": "divide_rows.cu",
  "parameters": [{"name": "WRONG", "values": [0, 1], "default": 0}],
  "kernels": [{"symbol": "divide_rows", "grid": ["M"], "block": ["64"], "arguments": [{"pointer": "D"}, {"pointer": "R"}, {"int64": "N"}]}]})json";
constexpr const char* kDivideRows = R"(extern "C" __global__ void divide_rows(const float* d, float* r, long long n) {
  for (long long j = threadIdx.x; j < n; j += blockDim.x)
    r[blockIdx.x * n + j] /= WRONG && blockIdx.x == 3 && j == 5 ? d[j] + 0.001f : d[j];
})";

class ResidualsOnGpu : public OperationOnGpu {
 protected:
  void prepare_with(const char* factor) { prepare(fmt::format(kDivision, factor), kQuotients); }

  std::unique_ptr<LoadedVariant> dividing(const char* parameters) {
    return variant(kDivideTemplate, kDivideRows, parameters);
  }
};

TEST_F(ResidualsOnGpu, AreOfTheDataThatALaunchOverwrote) {
  ASSERT_NO_FATAL_FAILURE(prepare_with("2"));
  const auto tested = null_test(*buffers_, *checker_, stream_.get());
  ASSERT_TRUE(tested) << tested.error().text();
  const auto right = dividing("WRONG=0"), wrong = dividing("WRONG=1");
  ASSERT_TRUE(right != nullptr && wrong != nullptr);
  // The wrong one between leaves nothing behind that the right one would be judged by.
  for (const auto& [launchable, fault] : {std::pair{right.get(), false}, {wrong.get(), true}, {right.get(), false}}) {
    const auto verdict = checker_->check(*launchable);
    ASSERT_TRUE(verdict) << verdict.error().text;
    EXPECT_LT(verdict->report.norm_error, 1e-3);
    if (fault) {
      EXPECT_THAT(verdict->fault, HasSubstr("element (3,5) of R is "));
      EXPECT_THAT(verdict->fault, HasSubstr("which leaves a residual of "));
      EXPECT_THAT(verdict->fault, HasSubstr("1 of 672 elements wrong"));
    } else {
      EXPECT_EQ(verdict->fault, "");
      EXPECT_GT(verdict->report.max_error, 0);
    }
  }
}

TEST_F(ResidualsOnGpu, OfABoundThatTellsNothingAreRefused) {
  ASSERT_NO_FATAL_FAILURE(prepare_with("1 << 50"));
  const auto tested = null_test(*buffers_, *checker_, stream_.get());
  ASSERT_FALSE(tested);
  EXPECT_THAT(tested.error().text(), HasSubstr("the error rule is too loose for these data"));
}

}  // namespace
}  // namespace pgtune::gpu
