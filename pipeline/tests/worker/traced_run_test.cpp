// SPDX-License-Identifier: MIT
// The traced run of a pipeline: by records of a recorder of the test's, which knows what the runtime of the tests ran,
// and by events where there are none.
#include "pipeline/worker/traced_run.hpp"

#include <map>

#include "pipeline/tests/worker/pipeline_loop_fixture.hpp"

namespace pgtune::gpu {
namespace {

using namespace test;
using pipeline::Activity;
using pipeline::ActivityKind;
using pipeline::Candidate;
using pipeline::StreamUse;
using pipeline::Submission;
using pipeline::TimelineSource;
using ::testing::HasSubstr;
namespace fake = pgtune::test::fake_runtime;

constexpr std::int64_t kMillisecond_ns = 1'000'000;

/// What a recorder does, and how often it was asked to.
struct Script {
  std::string fails;       ///< "open", "start", "take", "now" or "number"
  bool in_order = true;    ///< nodes of graphs are numbered in the order in which they were captured
  std::size_t untold = 0;  ///< records of a run that are not handed out
  int started = 0, stopped = 0;
};

class ScriptedRecorder final : public ActivityRecorder {
 public:
  explicit ScriptedRecorder(Script& script) : script_(&script) {}

  Result<void> start() override {
    ++script_->started;
    if (script_->fails == "start") return fail(ErrorKind::kEnvironment, "no records for you");
    static_cast<void>(fake::take_work());
    return {};
  }
  Result<std::vector<Activity>> take() override {
    if (script_->fails == "take") return fail(ErrorKind::kEnvironment, "7 records were lost");
    std::vector<Activity> activities;
    for (const fake::Work& work : fake::take_work()) activities.push_back(activity_of(work));
    activities.resize(activities.size() - std::min(activities.size(), script_->untold));
    return activities;
  }
  void stop() override { ++script_->stopped; }
  Result<std::int64_t> now_ns() override {
    if (script_->fails == "now") return fail(ErrorKind::kEnvironment, "no clock");
    return fake::now_ms() * kMillisecond_ns;
  }
  Result<std::uint32_t> number_of(void* stream) override {
    if (script_->fails == "number") return fail(ErrorKind::kEnvironment, "no such stream");
    if (stream == nullptr || stream == cudaStreamLegacy) return fail(ErrorKind::kEnvironment, "refused, as CUPTI does");
    return numbers_.try_emplace(stream, static_cast<std::uint32_t>(numbers_.size() + 10)).first->second;
  }

 private:
  Activity activity_of(const fake::Work& work) {
    Activity activity;
    activity.kind = work.kind == fake::Work::Kind::kKernel   ? ActivityKind::kKernel
                    : work.kind == fake::Work::Kind::kCopyIn ? ActivityKind::kCopyIn
                                                             : ActivityKind::kCopyOut;
    activity.end_ns = work.ended * kMillisecond_ns;
    activity.start_ns = activity.end_ns - kMillisecond_ns;
    constexpr std::uint32_t kLegacy = 7;
    activity.stream = work.stream == cudaStreamLegacy ? kLegacy : number_of(work.stream).value();
    activity.call = static_cast<std::uint32_t>(work.call);
    activity.bytes = work.bytes;
    constexpr int kMoreThanAll = 1'000'000;
    if (work.node > 0)
      activity.graph_node = static_cast<std::uint64_t>(script_->in_order ? work.node : kMoreThanAll - work.node);
    return activity;
  }

  Script* script_;
  std::map<void*, std::uint32_t> numbers_;
};

class TracedRun : public PipelineLoop {
 protected:
  [[nodiscard]] CudaResult<pipeline::Timeline> trace(LoadedPipeline& loaded) {
    return trace_run(loaded, [this]() -> Result<std::unique_ptr<ActivityRecorder>> {
      if (script_.fails == "open") return fail(ErrorKind::kEnvironment, "cannot load CUPTI");
      return std::make_unique<ScriptedRecorder>(script_);
    });
  }
  Script script_;
};

TEST_F(TracedRun, EveryLegalCandidateHasTheTimesOfItsRecords) {
  std::uint64_t seed = 0;
  for (const char* stream : {"A,D", "A,B,D", "B", "D"}) {
    ASSERT_NO_FATAL_FAILURE(prepare(stream, false));
    for (const Candidate& candidate : every_kind()) {
      if (!why_illegal(streamed_, candidate, kRoomy).empty()) continue;
      SCOPED_TRACE(stream + (" " + candidate.key()));
      fake::shuffle(++seed);
      kernels_.pieces = 1 + static_cast<int>(seed % 3);
      auto loaded = load(candidate);
      ASSERT_TRUE(loaded) << loaded.error().message();
      const auto timeline = trace(**loaded);
      ASSERT_TRUE(timeline) << timeline.error().message();
      ASSERT_FALSE(timeline->reason) << *timeline->reason;
      EXPECT_EQ(timeline->source, TimelineSource::kRecords);
      EXPECT_FALSE(timeline->as_loop);
      const pipeline::Schedule& schedule = (*loaded)->schedule();
      ASSERT_TRUE(is_of(schedule, *timeline));
      for (std::size_t i = 0; i < schedule.operations.size(); ++i) {
        const pipeline::Span& span = timeline->spans[i];
        ASSERT_GT(span.end_s, span.start_s);
        for (const int need : schedule.operations[i].needs)
          ASSERT_GE(span.start_s, timeline->spans[static_cast<std::size_t>(need)].end_s - 1e-9);
      }
      EXPECT_LE(timeline->spans.back().end_s, timeline->total_s);
    }
  }
  EXPECT_GT(seed, 500U);
  EXPECT_EQ(script_.started, script_.stopped);
  EXPECT_EQ(script_.started, static_cast<int>(seed));
}

TEST_F(TracedRun, ARecordedRunIsTheRunThatIsTimed) {
  prepare("A,D", false);
  const Candidate candidate{.chunk = 4, .streams = 2, .buffers = 3, .submission = Submission::kGraph};
  auto loaded = load(candidate);
  ASSERT_TRUE(loaded);
  const int launched = fake::counts().launched_graphs;
  ASSERT_TRUE(trace(**loaded));
  EXPECT_EQ(fake::counts().launched_graphs - launched, 2);  // the first one is not looked at
  expect_right(**loaded, "after a recorded run");
}

TEST_F(TracedRun, WithoutRecordsThereAreEventsAndTheReason) {
  prepare("A,D", false);
  auto loaded = load({.chunk = 4, .streams = 2, .buffers = 3});
  ASSERT_TRUE(loaded);
  const std::map<std::string, std::string> reasons{{"open", "cannot load CUPTI"},
                                                   {"start", "no records for you"},
                                                   {"take", "7 records were lost"},
                                                   {"now", "no clock"},
                                                   {"number", "no such stream"}};
  for (const auto& [fails, reason] : reasons) {
    SCOPED_TRACE(fails);
    script_ = {};
    script_.fails = fails;
    const auto timeline = trace(**loaded);
    ASSERT_TRUE(timeline) << timeline.error().message();
    EXPECT_EQ(timeline->source, TimelineSource::kEvents);
    EXPECT_EQ(timeline->reason, reason);
    EXPECT_FALSE(timeline->as_loop);
    EXPECT_TRUE(is_of((*loaded)->schedule(), *timeline));
    EXPECT_EQ(script_.stopped, fails == "open" || fails == "start" ? 0 : 1);
  }
  script_ = {};
  script_.untold = 1;
  const auto timeline = trace(**loaded);
  ASSERT_TRUE(timeline);
  EXPECT_EQ(timeline->source, TimelineSource::kEvents);
  EXPECT_THAT(timeline->reason.value_or(""), HasSubstr("record"));
  expect_right(**loaded, "after traces");
}

TEST_F(TracedRun, OfAGraphWhoseRecordsDoNotTellTheLoopIsRecorded) {
  prepare("A,D", false);
  auto loaded = load({.chunk = 4, .streams = 2, .buffers = 3, .submission = Submission::kGraph});
  ASSERT_TRUE(loaded);
  script_.in_order = false;
  const auto looped = trace(**loaded);
  ASSERT_TRUE(looped) << looped.error().message();
  EXPECT_EQ(looped->source, TimelineSource::kRecords);
  EXPECT_TRUE(looped->as_loop);
  EXPECT_THAT(looped->reason.value_or(""), HasSubstr("record"));
  EXPECT_TRUE(is_of((*loaded)->schedule(), *looped));
  script_.fails = "open";
  const auto events = trace(**loaded);
  ASSERT_TRUE(events);
  EXPECT_EQ(events->source, TimelineSource::kEvents);
  EXPECT_TRUE(events->as_loop);
}

TEST_F(TracedRun, WhatCannotBeCountedIsAReasonAndALostGpuAnError) {
  prepare("A,D", false);
  auto loaded = load({.chunk = 4, .streams = 2, .buffers = 3});
  ASSERT_TRUE(loaded);
  fake::fail("cudaGraphGetNodes", cudaErrorNotSupported);
  const auto events = trace(**loaded);
  ASSERT_TRUE(events) << events.error().message();
  EXPECT_EQ(events->source, TimelineSource::kEvents);
  EXPECT_THAT(events->reason.value_or(""), HasSubstr("counting nodes"));
  EXPECT_EQ(script_.started, 0);
  fake::fail("cudaGraphGetNodes", cudaSuccess);
  fake::fail("cudaEventSynchronize", cudaErrorIllegalAddress);
  const auto lost = trace(**loaded);
  ASSERT_FALSE(lost);
  EXPECT_TRUE(lost.error().sticky);
  EXPECT_EQ(script_.started, script_.stopped);
  fake::fail("cudaEventSynchronize", cudaSuccess);
}

}  // namespace
}  // namespace pgtune::gpu
