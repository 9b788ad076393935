// SPDX-License-Identifier: MIT
// Pipelines through a worker that dies, hangs or is wrong: each costs its candidate, nothing else.
#include "pipeline/search/pipeline_device.hpp"

#include <gmock/gmock.h>

#include "tests/device/fake_worker_test.hpp"

namespace pgtune::device {
namespace {

using pipeline::Candidate;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

class WorkerPipelineDeviceTest : public FakeWorkerTest {
 protected:
  [[nodiscard]] static std::unique_ptr<WorkerPipelineDevice> open(milliseconds timeout = milliseconds(60'000)) {
    auto device = WorkerPipelineDevice::open({.worker_path = worker_path(), .gpu = "0", .request_timeout = timeout});
    EXPECT_TRUE(device) << device.error().text();
    protocol::PipelinePrepare request;
    request.streamed =
        pipeline::parse_streamed(with_default_strides(parse_shape("4096x256x256").value()).value(), "A,D").value();
    request.block = request.streamed.problem;
    request.pinned_limit_bytes = std::int64_t{1} << 30;
    EXPECT_TRUE((*device)->prepare(request));
    return std::move(*device);
  }
  static Candidate streams(int count) { return {.chunk = 512, .streams = count, .buffers = count}; }
  static Outcome trial(WorkerPipelineDevice& device, const Candidate& candidate) {
    return device.trial({candidate, 1, 0}).value().outcome;
  }
  static protocol::PipelineRound round_of_three() {
    protocol::PipelineRound request;
    request.candidates = {streams(1), streams(2), streams(3)};
    request.order = {2, 1, 0};
    request.round = 4;
    return request;
  }
};

TEST_F(WorkerPipelineDeviceTest, AWorkerThatDiesIsReplacedAndPreparedAgain) {
  set_faults("trial|s2 |segv");
  const auto device = open();
  EXPECT_EQ(trial(*device, streams(1)).kind, OutcomeKind::kOk);
  const Outcome crashed = trial(*device, streams(2));
  EXPECT_EQ(crashed.kind, OutcomeKind::kCrashed);
  EXPECT_THAT(crashed.reason, HasSubstr("pipeline worker"));
  EXPECT_EQ(trial(*device, streams(3)).kind, OutcomeKind::kOk);
  std::string operations;
  for (const LoggedRequest& request : log()) operations += request.op + " ";
  EXPECT_EQ(operations, "hello prepare trial trial hello prepare trial ");
}

TEST_F(WorkerPipelineDeviceTest, OneThatHangsIsEnded) {
  set_faults("trial|s2 |hang");
  const auto device = open(milliseconds(300));
  EXPECT_EQ(trial(*device, streams(2)).kind, OutcomeKind::kTimeout);
  EXPECT_EQ(trial(*device, streams(1)).kind, OutcomeKind::kOk);
}

TEST_F(WorkerPipelineDeviceTest, ARoundTellsWhoTookTheWorkerWithIt) {
  set_faults("round|s2 |segv");
  const auto device = open();
  const auto report = device->round(round_of_three());
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_TRUE(report->samples[0] && report->samples[2]);
  EXPECT_FALSE(report->samples[1]);
  EXPECT_EQ(report->outcomes[1].kind, OutcomeKind::kCrashed);
  EXPECT_EQ(report->outcomes[0].kind, OutcomeKind::kOk);
  EXPECT_EQ(report->samples[0]->round, 4);
}

TEST_F(WorkerPipelineDeviceTest, WhatIsOfNoCandidateIsAnError) {
  set_faults("rates||segv;trace||context_lost");
  const auto device = open();
  const auto rates = device->rates();
  ASSERT_FALSE(rates);
  EXPECT_EQ(rates.error().kind, ErrorKind::kInternal);
  const auto timeline = device->trace(streams(1));
  ASSERT_FALSE(timeline);
  EXPECT_THAT(timeline.error().text(), HasSubstr("illegal memory access"));
  EXPECT_TRUE(device->steps(streams(1)));
}

TEST_F(WorkerPipelineDeviceTest, ARecordedRunThatTakesTheWorkerWithItIsMadeAgainWithEvents) {
  const auto whole = open();
  const auto recorded = whole->trace(streams(2));
  ASSERT_TRUE(recorded) << recorded.error().text();
  EXPECT_EQ(recorded->source, pipeline::TimelineSource::kRecords);
  EXPECT_FALSE(recorded->reason);
  for (const char* fate : {"segv", "hang"}) {
    SCOPED_TRACE(fate);
    set_faults(std::string("trace|records|") + fate);
    const auto device = open(milliseconds(300));
    const auto timeline = device->trace(streams(2));
    ASSERT_TRUE(timeline) << timeline.error().text();
    EXPECT_EQ(timeline->source, pipeline::TimelineSource::kEvents);
    EXPECT_EQ(timeline->spans, recorded->spans);
    EXPECT_THAT(timeline->reason.value_or(""), HasSubstr("the run that was to be recorded failed: pipeline worker"));
    EXPECT_TRUE(device->steps(streams(1)));
  }
}

TEST_F(WorkerPipelineDeviceTest, AWorkerWithoutAGpuIsRefusedWithItsReason) {
  const auto device = WorkerPipelineDevice::open({.worker_path = worker_path(), .gpu = "7"});
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(device.error().text(), HasSubstr("GPU 7"));
}

}  // namespace
}  // namespace pgtune::device
