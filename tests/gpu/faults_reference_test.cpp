// SPDX-License-Identifier: MIT
// Operations whose own kernels fault or never end, in the real worker: what is said of them, and that the next problem
// is prepared by a new one.
#include <gmock/gmock.h>

#include <chrono>

#include "tests/gpu/faults.hpp"
#include "tuner/operation/operation_definition.hpp"

namespace pgtune::gpu {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class FaultyReference : public testing::Test {
 protected:
  void SetUp() override {
    device::WorkerDevice::Options options;
    options.prepare_timeout = std::chrono::seconds(10);
    auto opened = open_worker(folder_, options);
    if (!opened) GTEST_SKIP() << "needs a GPU: " << opened.error().text();
    device_ = std::move(*opened);
  }

  /// Twice X, whose kernels begin with these statements.
  [[nodiscard]] Result<BaselineReport> prepare(const std::string& in_fill, const std::string& in_reference) {
    const std::string source = R"(#include "operation.cuh"
extern "C" __global__ void fill(void* x, i64 n) {
  )" + in_fill + R"(
  for (i64 i = threadIdx.x; i < n; i += blockDim.x) store_element(x, i, TYPE_X, 1.0f + i);
}
extern "C" __global__ void twice(const void* x, double* y, i64 n) {
  )" + in_reference + R"(
  for (i64 i = threadIdx.x; i < n; i += blockDim.x) y[i] = 2 * load_element(x, i, TYPE_X);
})";
    constexpr const char* kJson = R"json({
      "schema": 1, "name": "twice", "dimensions": [{"name": "N"}],
      "buffers": [
        {"name": "X", "type": "f32", "role": "in", "extents": ["N"], "fill": {"kernel": {"symbol": "fill",
          "grid": ["1"], "block": ["64"], "arguments": [{"buffer": "X"}, {"int64": "N"}]}}},
        {"name": "Y", "type": "f32", "role": "out", "extents": ["N"], "error": {"rule": "exact"}}],
      "reference": {"source": "twice.cu", "kernels": [{"symbol": "twice", "grid": ["1"], "block": ["64"],
        "arguments": [{"buffer": "X"}, {"value": "Y"}, {"int64": "N"}]}]},
      "flops": "N", "bytes": "8 * N", "unit": "GB/s"})json";
    const auto read = [&](const std::string&) -> Result<std::string> { return source; };
    const auto problem = operation::parse_operation(kJson, "twice.json", read).and_then([](const auto& definition) {
      return operation::make_problem(definition, {{"N", 4096}}, std::nullopt);
    });
    if (!problem) return tl::unexpected<Error>(problem.error());
    return device_->prepare({*problem, {}});
  }

  void expect_refused(const Result<BaselineReport>& prepared, ErrorKind kind,
                      const testing::Matcher<std::string>& text) {
    ASSERT_FALSE(prepared);
    EXPECT_EQ(prepared.error().kind, kind) << prepared.error().text();
    EXPECT_THAT(prepared.error().text(), text);
    const auto sound = prepare("", "");
    EXPECT_TRUE(sound) << sound.error().text();
  }

  const TestFolder folder_;
  std::unique_ptr<device::WorkerDevice> device_;
};

TEST_F(FaultyReference, ThatTrapsIsNamedAndTheNextProblemIsPrepared) {
  expect_refused(prepare("", "if (threadIdx.x == 0) __trap();"), ErrorKind::kUsage,
                 AllOf(HasSubstr("running the reference of the operation 'twice': "), HasSubstr("(cudaError")));
}

TEST_F(FaultyReference, AFillThatTrapsIsNotTakenForTheReference) {
  expect_refused(prepare("if (threadIdx.x == 0) __trap();", ""), ErrorKind::kUsage,
                 AllOf(HasSubstr("filling the buffers of the operation 'twice': "), Not(HasSubstr("the reference"))));
}

TEST_F(FaultyReference, ThatNeverEndsIsSuspected) {
  expect_refused(prepare("", "while (clock64() >= 0) {}"), ErrorKind::kEnvironment,
                 AllOf(HasSubstr("gave no answer within 10"), HasSubstr("the reference of the operation 'twice' or")));
}

}  // namespace
}  // namespace pgtune::gpu
