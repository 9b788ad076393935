// SPDX-License-Identifier: MIT
// Launches that read what they write are timed on fresh data: a kernel that finds its work done would be fast on what
// the launch before has left.
#include <gtest/gtest.h>

#include "tests/gpu/operation_on_gpu.hpp"
#include "tuner/gpu/measure/check/verification.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"

namespace pgtune::gpu {
namespace {

// R = -|R| in place, of positive data.
constexpr const char* kNegation = R"json({
  "schema": 1, "name": "negate", "dimensions": [{"name": "M"}, {"name": "N"}],
  "buffers": [{"name": "R", "type": "f32", "role": "inout", "extents": ["M", "N"], "fill": {"uniform": [1, 3]}, "error": {"rule": "exact"}}],
  "reference": {"source": "negate_reference.cu", "kernels": [
    {"symbol": "negated", "grid": ["M"], "block": ["32"], "arguments": [{"buffer": "R"}, {"value": "R"}, {"int64": "N"}]}]},
  "flops": "M * N", "bytes": "8 * M * N", "unit": "GB/s"})json";
constexpr const char* kNegated = R"(#include "operation.cuh"
extern "C" __global__ void negated(const void* r, double* right, i64 n) {
  for (i64 j = threadIdx.x, at = blockIdx.x * n + j; j < n; j += blockDim.x, at += blockDim.x)
    right[at] = -fabs(load_element(r, at, TYPE_R));
})";
constexpr const char* kNegateTemplate = R"json({
  "schema": 1, "name": "negate_rows", "operation": "negate", "source": "negate_rows.cu",
  "parameters": [{"name": "LOOKS", "values": [0, 1], "default": 0}],
  "kernels": [{"symbol": "negate_rows", "grid": ["M"], "block": ["32"], "arguments": [{"pointer": "R"}, {"int64": "N"}]}]})json";
// Always 20,000 clocks, or 60,000 where the row is not negative yet.
constexpr const char* kNegateSource = R"(extern "C" __global__ void negate_rows(float* r, long long n) {
  float* const row = r + blockIdx.x * n;
  const long long start = clock64();
  if (LOOKS && row[n - 1] < 0) return;
  __syncwarp();
  for (long long j = threadIdx.x; j < n; j += 32) row[j] = -fabsf(row[j]);
  while (clock64() - start < (LOOKS ? 60000 : 20000)) {
  }
})";

class RestoredOnGpu : public OperationOnGpu {
 protected:
  /// Seconds a launch, of a series one by one or in graphs.
  double timed(LoadedVariant& launchable, bool in_graphs, bool settled) {
    LaunchSeries series(launchable, buffers_->rotation(), stream_.get());
    EXPECT_TRUE(series.restores());
    EXPECT_TRUE(series.enqueue(1));
    if (in_graphs) {
      EXPECT_TRUE(series.capture(40e-6));
    }
    const auto timer = SampleTimer::create(*kernels_, info_.sm_count, Telemetry());
    EXPECT_TRUE(timer);
    const auto sample =
        settled ? (*timer)->time_settled(series, 40e-6, 50e-3, SettlingRule(0.1)) : (*timer)->time(series, 100, 3);
    EXPECT_TRUE(sample) << sample.error().text;
    return sample ? sample->per_launch_s() : 0;
  }
};

TEST_F(RestoredOnGpu, AKernelThatLooksForLessWorkFindsNone) {
  ASSERT_NO_FATAL_FAILURE(prepare(kNegation, kNegated));
  const auto plain = variant(kNegateTemplate, kNegateSource, "LOOKS=0"),
             looks = variant(kNegateTemplate, kNegateSource, "LOOKS=1");
  ASSERT_TRUE(plain != nullptr && looks != nullptr);
  for (LoadedVariant* const launchable : {plain.get(), looks.get()}) {
    const auto verdict = checker_->check(*launchable);
    ASSERT_TRUE(verdict) << verdict.error().text;
    EXPECT_EQ(verdict->fault, "");
  }
  for (const bool in_graphs : {false, true}) {
    for (const bool settled : {false, true}) {
      const double plain_s = timed(*plain, in_graphs, settled), looks_s = timed(*looks, in_graphs, settled);
      EXPECT_GT(looks_s, 2 * plain_s) << "in graphs " << in_graphs << ", settled " << settled;
      EXPECT_GT(plain_s, 9e-6);
      EXPECT_LT(looks_s, 60e-6);
    }
  }
}

TEST_F(RestoredOnGpu, LaunchesAsTheyAreTimedAreVerified) {
  ASSERT_NO_FATAL_FAILURE(prepare(kNegation, kNegated));
  const auto looks = variant(kNegateTemplate, kNegateSource, "LOOKS=1");
  ASSERT_TRUE(looks != nullptr);
  LaunchSeries series(*looks, buffers_->rotation(), stream_.get());
  ASSERT_TRUE(series.enqueue(1));
  for (const bool in_graphs : {false, true}) {
    if (in_graphs) {
      ASSERT_TRUE(series.capture(40e-6));
    }
    ASSERT_TRUE(series.enqueue(1)) << "which leaves a turn half done";
    protocol::VerifyRequest request;
    request.launches = 8;
    request.data_seed = 11;
    const auto launches = SeriesToVerify::create(*buffers_, *checker_, series, 0);
    ASSERT_TRUE(launches) << launches.error().text;
    const auto verified = Verification(**launches, request).run();
    ASSERT_TRUE(verified) << verified.error().text;
    EXPECT_EQ(verified->outcome.kind, OutcomeKind::kOk) << verified->outcome.reason;
  }
}

}  // namespace
}  // namespace pgtune::gpu
