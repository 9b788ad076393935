// SPDX-License-Identifier: MIT
// Arrays of pointers on the GPU: each place has addresses of its own, a kernel that changes them is found, and the
// reference follows them to the data that a launch began with.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/gpu/operation_on_gpu.hpp"
#include "tuner/gpu/measure/check/checker.hpp"

namespace pgtune::gpu {
namespace {

constexpr const char* kOperation = R"json({
  "schema": 1, "name": "add_one", "dimensions": [{"name": "M"}, {"name": "N"}],
  "buffers": [{"name": "R", "type": "f32", "role": "inout", "extents": ["M", "N"], "error": {"rule": "ulp"}}],
  "pointers": [{"name": "Rs", "buffer": "R", "count": "M", "offset": "(M - 1 - i) * N"}],
  "reference": {"source": "add_one_reference.cu", "kernels": [{"symbol": "add_one_reference", "grid": ["M"], "block": ["32"],
    "arguments": [{"buffer": "Rs"}, {"value": "R"}, {"int64": "M"}, {"int64": "N"}]}]},
  "flops": "M * N", "bytes": "8 * M * N", "unit": "GB/s"})json";
constexpr const char* kReference = R"(#include "operation.cuh"
extern "C" __global__ void add_one_reference(const void* const* rs, double* r, i64 m, i64 n) {
  for (i64 j = threadIdx.x; j < n; j += blockDim.x)
    r[(m - 1 - blockIdx.x) * n + j] = load_element(rs[blockIdx.x], j, TYPE_Rs) + 1;
})";
constexpr const char* kTemplate = R"json({
  "schema": 1, "name": "add_one_rows", "operation": "add_one", "source": "add_one_rows.cu",
  "parameters": [{"name": "THREADS", "values": [64], "default": 64}],
  "kernels": [{"symbol": "add_one_rows", "grid": ["M"], "block": ["THREADS"], "arguments": [{"pointer": "Rs"}, {"int64": "N"}]}]})json";
constexpr const char* kKernel = R"(extern "C" __global__ void add_one_rows(float** rs, long long n) {
  for (long long j = threadIdx.x; j < n; j += THREADS) rs[blockIdx.x][j] += 1.0f;
  MORE
})";

class PointersOnGpu : public OperationOnGpu {
 protected:
  void SetUp() override {
    OperationOnGpu::SetUp();
    if (!IsSkipped()) prepare(kOperation, kReference);
  }

  /// The kernel with another statement at its end.
  std::unique_ptr<LoadedVariant> variant_with(const std::string& more) {
    std::string text = kKernel;
    text.replace(text.find("MORE"), 4, more);
    return variant(kTemplate, text, "");
  }
};

TEST_F(PointersOnGpu, LeadIntoTheBufferOfTheirOwnPlace) {
  for (std::size_t place = 0; place < buffers_->places().size(); ++place) {
    ASSERT_TRUE(buffers_->fill(place, stream_.get()));
    ASSERT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);
    const OperandSet& set = buffers_->place(place);
    std::vector<std::uint64_t> pointers(kRows);
    ASSERT_EQ(set.buffers.at(1).bytes, kRows * 8);
    ASSERT_EQ(cudaMemcpy(pointers.data(), device_pointer(set.buffers.at(1).address), kRows * 8, cudaMemcpyDeviceToHost),
              cudaSuccess);
    for (std::uint64_t i = 0; i < kRows; ++i)
      EXPECT_EQ(pointers[i], set.buffers.at(0).address + (kRows - 1 - i) * kColumns * 4) << place << " " << i;
  }
}

TEST_F(PointersOnGpu, AKernelThatFollowsThemIsRightInAllPlaces) {
  const auto tested = null_test(*buffers_, *checker_, stream_.get());
  ASSERT_TRUE(tested) << tested.error().text();
  const auto loaded = variant_with("");
  ASSERT_NE(loaded, nullptr);
  const auto verdict = checker_->check(*loaded);
  ASSERT_TRUE(verdict) << verdict.error().text;
  EXPECT_EQ(verdict->fault, "");
}

TEST_F(PointersOnGpu, AKernelThatChangesThemIsFound) {
  const auto loaded = variant_with("__syncthreads(); if (threadIdx.x == 0) rs[blockIdx.x] += 1;");
  ASSERT_NE(loaded, nullptr);
  const auto verdict = checker_->check(*loaded);
  ASSERT_TRUE(verdict) << verdict.error().text;
  EXPECT_NE(verdict->fault.find("Rs"), std::string::npos) << verdict->fault;
}

// What a launch changed is not what the reference wants, though its pointers lead there.
TEST_F(PointersOnGpu, TheReferenceFollowsThemToWhatALaunchBeganWith) {
  const auto loaded = variant_with("");
  ASSERT_NE(loaded, nullptr);
  ASSERT_TRUE(buffers_->poison(0, stream_.get()));
  ASSERT_TRUE(loaded->launch(0, stream_.get()));
  ASSERT_TRUE(checker_->refer_to(0));
  const auto found = checker_->look(*loaded, 0, kPoison);
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_EQ(found->comparison.wrong, 0U);
  EXPECT_TRUE(found->changed_operands.empty());
}

}  // namespace
}  // namespace pgtune::gpu
