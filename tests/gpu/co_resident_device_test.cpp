// SPDX-License-Identifier: MIT
// Kernels with a barrier of the whole grid, and kernels that a template names in C++, on the GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/gpu/operation_on_gpu.hpp"
#include "tuner/gpu/measure/check/checker.hpp"

namespace pgtune::gpu {
namespace {

constexpr const char* kOverSumOperation = R"json({
  "schema": 1, "name": "over_sum", "dimensions": [{"name": "M"}, {"name": "N"}],
  "buffers": [
    {"name": "X", "type": "f32", "role": "in", "extents": ["M", "N"], "fill": {"uniform": [0.5, 1.5]}},
    {"name": "Y", "type": "f32", "role": "out", "extents": ["M", "N"], "error": {"rule": "ulp", "ulps": 64, "float32_ulps": 64}}],
  "reference": {"source": "over_sum_reference.cu", "kernels": [{"symbol": "over_sum_reference", "grid": ["1"], "block": ["1"],
    "arguments": [{"buffer": "X"}, {"value": "Y"}, {"scale": "Y"}, {"int64": "M * N"}]}]},
  "flops": "M * N", "bytes": "12 * M * N", "unit": "GB/s"})json";
constexpr const char* kOverSumReference = R"(#include "operation.cuh"
extern "C" __global__ void over_sum_reference(const void* x, double* y, float* scale, i64 n) {
  double sum = 0;
  for (i64 i = 0; i < n; ++i) sum += load_element(x, i, TYPE_X);
  for (i64 i = 0; i < n; ++i) scale[i] = static_cast<float>(y[i] = load_element(x, i, TYPE_X) / sum);
})";
// CO_RESIDENT is the JSON's expression, CTAS how many there are.
constexpr const char* kOverSumTemplate = R"json({
  "schema": 1, "name": "over_sum_grid", "operation": "over_sum", "source": "over_sum_grid.cu",
  "parameters": [{"name": "THREADS", "values": [64, 128], "default": 64}, {"name": "CTAS_PER_SM", "values": [1, 2, 1000], "default": 1}],
  "workspace": {"bytes": "8 * SM_COUNT * CTAS_PER_SM"},
  "kernels": [{"symbol": "over_sum::grid<THREADS, double>", "grid": ["SM_COUNT * CTAS_PER_SM"], "block": ["THREADS"], "co_resident": "CO_RESIDENT",
    "arguments": [{"pointer": "X"}, {"pointer": "Y"}, {"pointer": "workspace"}, {"int64": "M * N"}]}]})json";
constexpr const char* kOverSumKernel = R"(#include <cooperative_groups.h>
namespace over_sum {
template <int kThreads, typename Sum>
__global__ void __launch_bounds__(kThreads) grid(const float* x, float* y, Sum* parts, long long n) {
  if (threadIdx.x == 0) {
    Sum sum = 0;
    for (long long i = blockIdx.x; i < n; i += gridDim.x) sum += x[i];
    parts[blockIdx.x] = sum;
  }
  cooperative_groups::this_grid().sync();
  Sum sum = 0;
  for (int i = 0; i < gridDim.x; ++i) sum += parts[i];
  for (long long i = blockIdx.x * (long long)kThreads + threadIdx.x; i < n; i += (long long)gridDim.x * kThreads) y[i] = x[i] / sum;
}
}  // namespace over_sum
)";

class CoResidentOnGpu : public OperationOnGpu {
 protected:
  void SetUp() override {
    OperationOnGpu::SetUp();
    if (!IsSkipped()) prepare(kOverSumOperation, kOverSumReference);
  }

  std::unique_ptr<LoadedVariant> loaded(const std::string& co_resident, const std::string& parameters) {
    std::string json = kOverSumTemplate;
    json.replace(json.find("CO_RESIDENT"), 11, co_resident);
    return variant(json, kOverSumKernel, parameters);
  }
};

TEST_F(CoResidentOnGpu, ABarrierOfTheGridIsRight) {
  for (const char* parameters : {"THREADS=64", "THREADS=128", "CTAS_PER_SM=2"}) {
    const auto variant = loaded("1", parameters);
    ASSERT_NE(variant, nullptr);
    const auto verdict = checker_->check(*variant);
    ASSERT_TRUE(verdict) << verdict.error().text;
    EXPECT_EQ(verdict->fault, "") << parameters;
  }
}

TEST_F(CoResidentOnGpu, MoreCtasThanRunAtATimeAreRefusedByTheLaunch) {
  const auto variant = loaded("1", "CTAS_PER_SM=1000");
  ASSERT_NE(variant, nullptr);
  const auto launched = variant->launch(0, stream_.get());
  ASSERT_FALSE(launched);
  EXPECT_EQ(launched.error().code, cudaErrorCooperativeLaunchTooLarge) << launched.error().text;
}

}  // namespace
}  // namespace pgtune::gpu
