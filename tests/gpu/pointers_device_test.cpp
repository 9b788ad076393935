// SPDX-License-Identifier: MIT
// Arrays of pointers on the GPU: each place has addresses of its own, a kernel that changes them is found, and the
// reference follows them to the data that a launch began with.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/gpu/launching_gpu.hpp"
#include "tests/gpu/template_cases.hpp"
#include "tuner/gpu/measure/check/checker.hpp"
#include "tuner/gpu/measure/check/null_test.hpp"
#include "tuner/operation/operation_definition.hpp"
#include "tuner/template/variant_text.hpp"

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

class PointersOnGpu : public testing::Test, protected LaunchingGpu {
 protected:
  static constexpr std::int64_t kRows = 7, kColumns = 96;

  void SetUp() override {
    if (const auto why_not = open()) GTEST_SKIP() << *why_not;
    const auto reference = [](const std::string&) -> Result<std::string> { return std::string(kReference); };
    const auto parsed = operation::parse_operation(kOperation, "add_one.json", reference);
    ASSERT_TRUE(parsed) << parsed.error().text();
    operation_ = *parsed;
    problem_ = operation::make_problem(operation_, {{"M", kRows}, {"N", kColumns}}, std::nullopt).value();
    auto kernels = OperationKernels::create(driver_, *kernels_, problem_.operation, info_.architecture);
    ASSERT_TRUE(kernels) << kernels.error().text();
    own_ = std::move(*kernels);
    auto buffers = OperandBuffers::allocate(*kernels_, *own_, {DataDistribution::kUniform, 7}, 2, stream_.get());
    ASSERT_TRUE(buffers) << buffers.error().text;
    buffers_ = std::make_unique<OperandBuffers>(std::move(*buffers));
    auto checker = Checker::create(*kernels_, *buffers_, *own_, stream_.get());
    ASSERT_TRUE(checker) << checker.error().text;
    checker_ = std::move(*checker);
    ASSERT_TRUE(buffers_->add_guarded_places(driver_));
  }

  /// The kernel with another statement at its end.
  std::unique_ptr<LoadedVariant> variant(const std::string& more) {
    std::string text = kKernel;
    text.replace(text.find("MORE"), 4, more);
    const space::OperationInterface interface = operation_.interface();
    const auto read = [&](const std::string&) -> Result<std::string> { return text; };
    const auto definition = space::parse_template(kTemplate, "add_one_rows.json", read, &interface);
    EXPECT_TRUE(definition) << definition.error().text();
    const Variant only = definition->default_variant();
    const auto built = build(*definition, {&only, 1}, problem_);
    EXPECT_TRUE(built.front()) << built.front().error().text();
    if (!built.front()) return nullptr;
    auto loaded = load(*built.front(), buffers_->places(), buffers_->guarded_places());
    EXPECT_TRUE(loaded) << loaded.error().text;
    return loaded ? std::move(*loaded) : nullptr;
  }

  operation::OperationDefinition operation_;
  Problem problem_;
  std::unique_ptr<OperationKernels> own_;
  std::unique_ptr<OperandBuffers> buffers_;
  std::unique_ptr<Checker> checker_;
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
  const auto loaded = variant("");
  ASSERT_NE(loaded, nullptr);
  const auto verdict = checker_->check(*loaded);
  ASSERT_TRUE(verdict) << verdict.error().text;
  EXPECT_EQ(verdict->fault, "");
}

TEST_F(PointersOnGpu, AKernelThatChangesThemIsFound) {
  const auto loaded = variant("__syncthreads(); if (threadIdx.x == 0) rs[blockIdx.x] += 1;");
  ASSERT_NE(loaded, nullptr);
  const auto verdict = checker_->check(*loaded);
  ASSERT_TRUE(verdict) << verdict.error().text;
  EXPECT_NE(verdict->fault.find("Rs"), std::string::npos) << verdict->fault;
}

// What a launch changed is not what the reference wants, though its pointers lead there.
TEST_F(PointersOnGpu, TheReferenceFollowsThemToWhatALaunchBeganWith) {
  const auto loaded = variant("");
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
