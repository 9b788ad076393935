// SPDX-License-Identifier: MIT
// Pipelines on a GPU: every kind of candidate is right, what is measured is plausible, and pinned memory comes back.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/gpu/pipeline/pipeline_runner.hpp"
#include "tuner/pipeline/space.hpp"

namespace pgtune::gpu {
namespace {

using pipeline::Candidate;
using pipeline::Cut;
using pipeline::HostMemory;

class PipelineOnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    auto runner = PipelineRunner::open("0");
    if (!runner) GTEST_SKIP() << "needs a GPU: " << runner.error().text();
    runner_ = std::move(*runner);
  }

  void prepare(const std::string& shape, const std::string& stream, Dtype dtype = Dtype::kBf16,
               const std::string& layout = "nn") {
    Problem problem = parse_shape(shape).value();
    problem.dtype = dtype;
    problem.trans_a = layout[0] == 't';
    problem.trans_b = layout[1] == 't';
    streamed_ = pipeline::parse_streamed(with_default_strides(problem).value(), stream).value();
    protocol::PipelinePrepare request;
    request.streamed = streamed_;
    request.pinned_limit_bytes = std::int64_t{1} << 30;
    const auto prepared = runner_->prepare(request);
    ASSERT_TRUE(prepared) << prepared.error().text();
    limits_ = {prepared->device_bytes, prepared->pinned_bytes, prepared->batched_copies.value_or(false)};
    EXPECT_EQ(prepared->checked_rows, problem.m);
  }

  /// One of each use of streams, order, memory and submission of a chunk size that leaves a smaller last chunk.
  [[nodiscard]] std::vector<Candidate> kinds(Cut cut) const {
    std::vector<Candidate> out;
    const pipeline::Space space = pipeline::enumerate(streamed_, {limits_, cut, {}});
    for (const Candidate& candidate : space.candidates) {
      const bool smaller_last = extent_of(streamed_.problem, cut) % candidate.chunk != 0;
      const bool known = std::any_of(out.begin(), out.end(), [&](Candidate other) {
        other.buffers = candidate.buffers;
        other.streams = candidate.streams;
        return other == candidate;
      });
      if (smaller_last && !known) out.push_back(candidate);
    }
    for (const pipeline::Rung& rung : pipeline::ladder(streamed_, out.front(), limits_)) out.push_back(rung.candidate);
    return out;
  }

  void expect_right(const std::vector<Candidate>& candidates) {
    EXPECT_GT(candidates.size(), 8U);
    for (const Candidate& candidate : candidates) {
      const auto result = runner_->trial({candidate, 1, 0});
      ASSERT_TRUE(result) << candidate.key() << ": " << result.error().text();
      EXPECT_EQ(result->outcome.kind, OutcomeKind::kOk) << candidate.key() << ": " << result->outcome.reason;
      ASSERT_EQ(result->samples.size(), 1U) << candidate.key();
      EXPECT_GT(result->samples[0].device_s, 0) << candidate.key();
    }
  }

  std::unique_ptr<PipelineRunner> runner_;
  pipeline::StreamedProblem streamed_;
  pipeline::Limits limits_;
};

TEST_F(PipelineOnDevice, EveryKindAlongMIsRight) {
  prepare("2176x512x768", "A,D");
  expect_right(kinds(Cut::kM));
}

TEST_F(PipelineOnDevice, EveryKindAlongNIsRight) {
  prepare("512x2176x768", "B,D", Dtype::kBf16, "nt");
  expect_right(kinds(Cut::kN));
}

TEST_F(PipelineOnDevice, ColumnsAreCopiedAsTheyAre) {
  prepare("2176x512x768", "A,D", Dtype::kF16, "tn");
  expect_right(kinds(Cut::kM));
}

TEST_F(PipelineOnDevice, ChunksAlongKAddUp) {
  prepare("512x512x2176", "A,B,D", Dtype::kF32);
  expect_right(kinds(Cut::kK));
}

TEST_F(PipelineOnDevice, BatchedCopiesAreRightAndTraced) {
  prepare("2176x512x768", "A,D");
  if (!limits_.batched_copies) GTEST_SKIP() << "needs a driver of CUDA 12.8 or newer";
  std::vector<Candidate> batched;
  for (const Candidate& candidate : pipeline::enumerate(streamed_, {limits_, Cut::kM, {}}).candidates) {
    if (candidate.submission == pipeline::Submission::kBatched) batched.push_back(candidate);
  }
  expect_right(batched);
  prepare("512x512x2176", "A,B", Dtype::kF32, "tn");  // A and B of a chunk in one call
  const Candidate both{.cut = Cut::kK, .chunk = 512, .submission = pipeline::Submission::kBatched};
  const auto result = runner_->trial({both, 1, 0});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->outcome.kind, OutcomeKind::kOk) << result->outcome.reason;
  const auto timeline = runner_->trace({both, 0, 0});
  ASSERT_TRUE(timeline) << timeline.error().text();
  EXPECT_TRUE(is_of(make_schedule(streamed_, both), *timeline));
}

TEST_F(PipelineOnDevice, RatesKernelsRoundsStepsAndTimelineArePlausible) {
  prepare("4096x1024x1024", "A,D");
  const auto rates = runner_->rates();
  ASSERT_TRUE(rates) << rates.error().text();
  for (const double rate :
       {rates->pinned_in, rates->pinned_out, rates->pinned_in_both, rates->pinned_out_both, rates->pageable_in,
        rates->pageable_out, rates->pageable_in_both, rates->pageable_out_both, rates->host_copy}) {
    EXPECT_GT(rate, 1e8);
    EXPECT_LT(rate, 1e12);
  }
  EXPECT_GT(rates->latency_s, 0);
  EXPECT_GT(rates->issue_s, 0);
  EXPECT_LT(rates->wait_s.value_or(1), 1e-3);
  ASSERT_TRUE(rates->turns);
  EXPECT_EQ(rates->turns->size(), limits_.batched_copies ? 11U : 10U);
  for (const pipeline::StreamTurn& turn : *rates->turns) EXPECT_LT(turn.turn_s, 1e-3);
  const auto kernels = runner_->kernels({Cut::kM, {512, 4096}});
  ASSERT_TRUE(kernels) << kernels.error().text();
  ASSERT_EQ(kernels->times.size(), 2U);
  EXPECT_GT(kernels->times[1].time_s, kernels->times[0].time_s);

  protocol::PipelineRound round;
  round.candidates = {{.chunk = 512, .use = pipeline::StreamUse::kLanes, .buffers = 3},
                      {.chunk = 512, .submission = pipeline::Submission::kBlocking}};
  round.order = {1, 0};
  round.round = 1;
  const auto report = runner_->round(round);
  ASSERT_TRUE(report) << report.error().text();
  ASSERT_TRUE(report->samples[0] && report->samples[1]);
  EXPECT_EQ(report->samples[0]->position, 1);
  // Loose: somebody else may use the bus.
  EXPECT_LT(report->samples[0]->device_s, 2 * report->samples[0]->host_s);

  const auto steps = runner_->steps({round.candidates[0], 0, 0});
  ASSERT_TRUE(steps) << steps.error().text();
  EXPECT_GT(std::min({steps->copy_in_s, steps->compute_s, steps->copy_out_s}), 0);
  const auto timeline = runner_->trace({round.candidates[0], 0, 0});
  ASSERT_TRUE(timeline) << timeline.error().text();
  EXPECT_TRUE(is_of(make_schedule(streamed_, round.candidates[0]), *timeline));
}

TEST_F(PipelineOnDevice, KernelsAndRunsSettleBeforeTheirSamplesAndSayTheirClock) {
  prepare("4096x1024x1024", "A,D");
  const auto kernel = runner_->settled({Cut::kM, 512, 0.02, 0.1});
  ASSERT_TRUE(kernel) << kernel.error().text();
  EXPECT_EQ(kernel->extent, 512);
  EXPECT_GE(kernel->sample.time_s, 0.02);
  EXPECT_GE(kernel->sample.lead_in_s.value_or(0), 0.1);
  EXPECT_GT(kernel->sample.sm_clock_hz, 1e8);
  EXPECT_LT(kernel->sample.sm_clock_hz, 5e9);

  protocol::PipelineRound round;
  round.candidates = {{.chunk = 512, .use = pipeline::StreamUse::kLanes, .buffers = 3}};
  round.order = {0};
  round.round = 1;
  for (const double settle_s : {0.1, 0.0}) {
    round.settle_s = settle_s;
    const auto report = runner_->round(round);
    ASSERT_TRUE(report) << report.error().text();
    ASSERT_TRUE(report->samples[0]) << report->outcomes[0].reason;
    EXPECT_EQ(report->samples[0]->lead_in_s.has_value(), settle_s > 0);
    EXPECT_GE(report->samples[0]->lead_in_s.value_or(0), settle_s);
    EXPECT_GT(report->samples[0]->sm_clock_hz.value_or(0), 1e8);
  }
}

TEST_F(PipelineOnDevice, WhatDoesNotFitIsRefusedWithTheReason) {
  prepare("2048x512x512", "A,D");
  const auto result = runner_->trial({{.chunk = 4096}, 1, 0});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->outcome.kind, OutcomeKind::kInvalid);
  EXPECT_THAT(result->outcome.reason, ::testing::HasSubstr("not within"));
}

TEST_F(PipelineOnDevice, DeviceMemoryComesBackWithTheNextProblem) {
  prepare("2048x512x512", "A,D");
  const std::int64_t first = limits_.device_bytes;
  for (int again = 0; again < 3; ++again) {
    expect_right(kinds(Cut::kM));
    prepare("2048x512x512", "A,D");
  }
  EXPECT_GT(limits_.device_bytes, first - (std::int64_t{256} << 20));
}

}  // namespace
}  // namespace pgtune::gpu
