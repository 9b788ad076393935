// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/program/pipeline_outcome.hpp"
#include "pipeline/program/timeline_view.hpp"
#include "tuner/model/json.hpp"
#include "tuner/util/fields_json.hpp"

namespace pgtune::tool {
namespace {

using pipeline::Step;
using ::testing::HasSubstr;
using ::testing::Not;

pipeline::StreamedProblem problem() {
  return pipeline::parse_streamed(with_default_strides(parse_shape("1024x256x256").value()).value(), "A,D").value();
}

pipeline::Schedule two_chunks() {
  return make_schedule(problem(), {.chunk = 512, .use = pipeline::StreamUse::kLanes, .buffers = 2});
}

/// A staircase of two chunks, each step one millisecond.
pipeline::Timeline staircase() {
  pipeline::Timeline timeline;
  timeline.total_s = 4e-3;
  timeline.spans = {{0, Step::kCopyIn, 0, 0, 1e-3},     {1, Step::kCompute, 0, 1e-3, 2e-3},
                    {2, Step::kCopyOut, 0, 2e-3, 3e-3}, {3, Step::kCopyIn, 1, 1e-3, 2e-3},
                    {4, Step::kCompute, 1, 2e-3, 3e-3}, {5, Step::kCopyOut, 1, 3e-3, 4e-3}};
  return timeline;
}

TEST(TimelineText, IsAStaircase) {
  EXPECT_EQ(timeline_text(two_chunks(), staircase(), 24),
            "copy in   |000111......|\n"
            "compute   |...000111...|\n"
            "copy out  |......000111|\n"
            "           0       4 ms\n"
            "copy in   idle: drain 50.0 %\n"
            "compute   idle: fill 25.0 %, drain 25.0 %\n"
            "copy out  idle: fill 50.0 %\n"
            "times     from events around each operation\n");
}

TEST(TimelineText, SaysWhereItsTimesAreFrom) {
  pipeline::Timeline timeline = staircase();
  timeline.source = pipeline::TimelineSource::kRecords;
  EXPECT_THAT(timeline_text(two_chunks(), timeline, 24), HasSubstr("\ntimes     from CUPTI's activity records\n"));
  timeline.source = pipeline::TimelineSource::kEvents;
  timeline.reason = "cannot load CUPTI: " + std::string(66, 'x') + " and more";
  const std::string text = timeline_text(two_chunks(), timeline, 24);
  EXPECT_THAT(text, HasSubstr("\ntimes     from events around each operation: cannot load CUPTI:\n          xxx"));
  EXPECT_THAT(text, HasSubstr("xxx and\n          more\n"));
}

TEST(TimelineJson, SurvivesTheRoundTrip) {
  pipeline::Timeline timeline = staircase();
  timeline.source = pipeline::TimelineSource::kRecords;
  timeline.as_loop = true;
  timeline.reason = "a reason";
  const nlohmann::json stored = timeline;
  EXPECT_EQ(stored.at("source"), "cupti");
  EXPECT_EQ(stored.get<pipeline::Timeline>(), timeline);
}

TEST(PipelineText, SaysTheClocksOfKernelAndPipeline) {
  PipelineOutcome outcome;
  outcome.streamed = outcome.answer.streamed = problem();
  outcome.any_valid = true;
  outcome.answer.best.time_s = 5e-3;
  outcome.answer.bound.total_s = 4e-3;
  EXPECT_THAT(pipeline_text(outcome), AllOf(Not(HasSubstr("settled")), Not(HasSubstr("MHz"))));
  outcome.answer.best.sm_clock_hz = 1.55e9;
  pipeline::SettledKernel& settled = outcome.answer.settled.emplace();
  settled.extent = 512;
  settled.sample.launches = 10;
  settled.sample.time_s = 10e-3;
  settled.sample.sm_clock_hz = 1.605e9;
  EXPECT_THAT(pipeline_text(outcome), AllOf(HasSubstr("settled   1.000 ms for a chunk of M 512"), HasSubstr("1605 MHz"),
                                            HasSubstr("1550 MHz"), Not(HasSubstr("power cap"))));
  outcome.answer.slowdown = 1.125;
  EXPECT_THAT(pipeline_text(outcome), AllOf(HasSubstr("1.125 times"), HasSubstr("power cap")));
}

TEST(PipelineText, SaysTheNodesWhereThereIsAChoice) {
  PipelineOutcome outcome;
  outcome.streamed = outcome.answer.streamed = problem();
  outcome.any_valid = true;
  EXPECT_THAT(pipeline_text(outcome), Not(HasSubstr("nodes")));
  outcome.answer.prepared.host_nodes = {0, 1};
  outcome.answer.best.candidate.memory = pipeline::HostMemory::kRegistered;
  outcome.answer.best.candidate.host_node = 1;
  EXPECT_THAT(pipeline_text(outcome),
              AllOf(HasSubstr("\nnodes     0, 1 of the host"), HasSubstr("registered on node 1")));
}

TEST(PipelineText, SaysThatABoundWhichIsBeatenIsNone) {
  PipelineOutcome outcome;
  outcome.streamed = outcome.answer.streamed = problem();
  outcome.any_valid = true;
  outcome.answer.bound.total_s = 4e-3;
  outcome.answer.best.time_s = 3.99e-3;
  EXPECT_THAT(pipeline_text(outcome), Not(HasSubstr("the bound is too high")));
  outcome.answer.best.time_s = 3.9e-3;
  EXPECT_THAT(pipeline_text(outcome),
              AllOf(HasSubstr("note      the best takes less than the bound"), HasSubstr("--force")));
  outcome.answer.best.candidate.memory = pipeline::HostMemory::kMapped;
  EXPECT_THAT(pipeline_text(outcome), Not(HasSubstr("takes less than the bound"))) << "zero-copy copies nothing";
}

TEST(PipelineText, SaysWhatTurnsOfStreamsCost) {
  PipelineOutcome outcome;
  outcome.streamed = problem();
  EXPECT_THAT(pipeline_text(outcome), Not(HasSubstr("turns")));
  outcome.answer.rates.turns = {{pipeline::StreamUse::kPerChunk, 4, pipeline::Submission::kLoop, 12.5e-6},
                                {pipeline::StreamUse::kPerChunk, 4, pipeline::Submission::kGraph, 8e-6},
                                {pipeline::StreamUse::kLanes, 1, pipeline::Submission::kLoop, 4e-6}};
  EXPECT_THAT(pipeline_text(outcome), AllOf(HasSubstr("12.5 us with 4 streams"), HasSubstr("4.0 us with a stream a"),
                                            Not(HasSubstr("8.0 us"))));
}

TEST(Timeline, IsOfAScheduleWithASpanForEachOperation) {
  using pipeline::is_of;
  EXPECT_TRUE(is_of(two_chunks(), staircase()));
  const auto spoilt = [](auto change) {
    pipeline::Timeline timeline = staircase();
    change(timeline);
    return timeline;
  };
  for (const pipeline::Timeline& other :
       {pipeline::Timeline{}, spoilt([](auto& t) { t.spans.pop_back(); }), spoilt([](auto& t) { t.total_s = 1e300; }),
        spoilt([](auto& t) { t.spans[1].operation = -1; }), spoilt([](auto& t) { t.spans[1].step = Step::kCopyIn; }),
        spoilt([](auto& t) { t.spans[4].chunk = 7; }), spoilt([](auto& t) { t.spans[2].start_s = -1; }),
        spoilt([](auto& t) { t.spans[2].end_s = 0; }), spoilt([](auto& t) { t.spans[5].end_s = 1e300; })})
    EXPECT_FALSE(is_of(two_chunks(), other));
}

TEST(TimelineText, OfNothingIsEmpty) { EXPECT_EQ(timeline_text(two_chunks(), {}, 80), ""); }

TEST(TimelineSvg, HasARectangleForEachOperationAndEscapesItsTitle) {
  const std::string svg = timeline_svg(two_chunks(), staircase(), "<script> & \"more\"");
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt; &amp; &quot;more&quot;"));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  std::size_t count = 0;
  for (std::size_t at = svg.find("<rect"); at != std::string::npos; at = svg.find("<rect", at + 1)) ++count;
  EXPECT_EQ(count, 6U);
  EXPECT_THAT(svg, HasSubstr("compute of chunk 1, 2.000 to 3.000 ms"));
  EXPECT_THAT(svg, HasSubstr(">fill</text>"));
  EXPECT_THAT(svg, HasSubstr(">times from events around each operation<title>"));
  pipeline::Timeline recorded = staircase();
  recorded.source = pipeline::TimelineSource::kRecords;
  recorded.as_loop = true;
  recorded.reason = "<node>";
  EXPECT_THAT(
      timeline_svg(two_chunks(), recorded, ""),
      HasSubstr(">times from CUPTI's activity records<title>CUPTI's activity records, of the graph's operations "
                "as a loop: &lt;node&gt;</title></text>"));
}

}  // namespace
}  // namespace pgtune::tool
