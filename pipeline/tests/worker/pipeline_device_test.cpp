// SPDX-License-Identifier: MIT
// Pipelines on a GPU: every kind of candidate is right, what is measured is plausible, and pinned memory comes back.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "pipeline/plan/chunk_plan.hpp"
#include "pipeline/plan/space.hpp"
#include "pipeline/worker/cupti_recorder.hpp"
#include "pipeline/worker/pipeline_runner.hpp"
#include "tests/gpu/with_operation.hpp"

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
    request.streamed.problem = as_sent(request.streamed.problem);
    request.block = as_sent(pipeline::rows_of(streamed_.problem, problem.m));
    request.pinned_limit_bytes = std::int64_t{1} << 30;
    const auto prepared = runner_->prepare(request);
    ASSERT_TRUE(prepared) << prepared.error().text();
    limits_ = {prepared->device_bytes, prepared->pinned_bytes, prepared->batched_copies.value_or(false)};
    host_nodes_ = prepared->host_nodes;
    EXPECT_EQ(prepared->checked_rows, problem.m);
  }

  /// One of each use of streams, order, memory and submission of a chunk size that leaves a smaller last chunk.
  [[nodiscard]] std::vector<Candidate> kinds(Cut cut) const {
    std::vector<Candidate> out;
    const pipeline::Space space = pipeline::enumerate(streamed_, {limits_, cut, {}, host_nodes_});
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

  /// Operations of a stream one after the other, and in no more time in all than the run took.
  static void expect_possible(const pipeline::Schedule& schedule, const pipeline::Timeline& timeline) {
    constexpr double kClocks_s = 2e-6;  // of copy engines and SMs, put on one clock
    std::map<int, double> free_s, busy_s;
    for (std::size_t i = 0; i < schedule.operations.size(); ++i) {
      const pipeline::Span& span = timeline.spans[i];
      EXPECT_LT(span.start_s, span.end_s) << i;
      EXPECT_LE(span.end_s, timeline.total_s) << i;
      if (schedule.operations[i].merged) continue;  // copies of one call have no order
      busy_s[schedule.operations[i].stream] += span.end_s - span.start_s;
      double& stream_free_s = free_s[schedule.operations[i].stream];
      EXPECT_GE(span.start_s, stream_free_s - kClocks_s) << i;
      stream_free_s = span.end_s;
    }
    for (const auto& [stream, seconds] : busy_s) EXPECT_LE(seconds, timeline.total_s) << stream;
  }

  std::unique_ptr<PipelineRunner> runner_;
  pipeline::StreamedProblem streamed_;
  pipeline::Limits limits_;
  std::vector<int> host_nodes_;
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
  const auto timeline = runner_->trace({both, true});
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
  // Loose: other processes may use the bus.
  EXPECT_LT(report->samples[0]->device_s, 2 * report->samples[0]->host_s);

  const auto steps = runner_->steps({round.candidates[0], 0, 0});
  ASSERT_TRUE(steps) << steps.error().text();
  EXPECT_GT(std::min({steps->copy_in_s, steps->compute_s, steps->copy_out_s}), 0);
  const auto timeline = runner_->trace({round.candidates[0], false});
  ASSERT_TRUE(timeline) << timeline.error().text();
  EXPECT_TRUE(is_of(make_schedule(streamed_, round.candidates[0]), *timeline));
  EXPECT_EQ(timeline->source, pipeline::TimelineSource::kEvents);
}

TEST_F(PipelineOnDevice, CuptiRecordsARunOfEachKindOfSubmission) {
  if (const auto cupti = CuptiRecorder::open(library_places()); !cupti) GTEST_SKIP() << cupti.error().text();
  prepare("8192x2048x2048", "A,D");
  std::vector<Candidate> candidates{
      {.chunk = 1024, .use = pipeline::StreamUse::kLanes, .buffers = 3},
      {.chunk = 1280, .streams = 3, .buffers = 3},
      {.chunk = 1024, .use = pipeline::StreamUse::kDefaultStream, .streams = 2, .buffers = 2},
      {.chunk = 1024, .submission = pipeline::Submission::kBlocking},
      {.chunk = 1024, .streams = 2, .buffers = 2, .memory = HostMemory::kStaged},
      {.chunk = 1024, .streams = 2, .buffers = 2, .memory = HostMemory::kPageable},
      {.chunk = 8192, .memory = HostMemory::kMapped},
      {.chunk = 1280, .streams = 3, .buffers = 3, .submission = pipeline::Submission::kGraph}};
  if (limits_.batched_copies)
    candidates.push_back({.chunk = 1024,
                          .use = pipeline::StreamUse::kLanes,
                          .buffers = 4,
                          .order = pipeline::IssueOrder::kBreadthFirst,
                          .submission = pipeline::Submission::kBatched});
  for (const Candidate& candidate : candidates) {
    SCOPED_TRACE(candidate.key());
    const auto timeline = runner_->trace({candidate, true});
    ASSERT_TRUE(timeline) << timeline.error().text();
    EXPECT_EQ(timeline->source, pipeline::TimelineSource::kRecords) << timeline->reason.value_or("");
    // Nodes of a graph may be numbered in an order that does not tell; then its loop is recorded.
    EXPECT_EQ(timeline->as_loop, timeline->reason.has_value());
    EXPECT_TRUE(!timeline->as_loop || candidate.submission == pipeline::Submission::kGraph);
    const pipeline::Schedule schedule = make_schedule(streamed_, candidate);
    ASSERT_TRUE(is_of(schedule, *timeline));
    expect_possible(schedule, *timeline);
    // Recording slows each operation down, and other processes may use the bus.
    const auto timed = runner_->trial({candidate, 3, 0.01});
    ASSERT_TRUE(timed && !timed->samples.empty());
    double least_s = 1;
    for (const pipeline::RunSample& sample : timed->samples)
      least_s = std::min(least_s, sample.host_s / static_cast<double>(sample.runs));
    std::printf("%s: %.3f ms recorded, %.3f ms timed%s%s\n", candidate.key().c_str(), 1e3 * timeline->total_s,
                1e3 * least_s, timeline->reason ? ", " : "", timeline->reason.value_or("").c_str());
    EXPECT_LT(timeline->total_s, 1.5 * least_s + 1e-3);
    EXPECT_GT(timeline->total_s, 0.5 * least_s);
  }
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
