// SPDX-License-Identifier: MIT
// Records of what a GPU did, made up from a simulated run, as those of a schedule's operations.
#include "pipeline/plan/recorded_run.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "pipeline/plan/candidate.hpp"
#include "pipeline/tests/sample_machine.hpp"

namespace pgtune::pipeline {
namespace {

using test::streamed;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::int64_t kBegin_ns = 1'700'000'000'000'000'000;

std::int64_t time_ns(double seconds) { return kBegin_ns + static_cast<std::int64_t>(1e9 * seconds); }

/// The recorder's number of a stream of the schedule.
std::uint32_t number_of(int stream) {
  return stream == kLegacyStream ? 7 : static_cast<std::uint32_t>(13 + 2 * stream);
}

ActivityKind copy_kind(Step step) { return step == Step::kCopyIn ? ActivityKind::kCopyIn : ActivityKind::kCopyOut; }

/// What a recorder that misses nothing says of a simulated run: a record for each copy, and for a product as many as it
/// has pieces, one after another.
class MadeUp {
 public:
  explicit MadeUp(const Candidate& candidate, int pieces = 1, const std::string& stream = "A,D")
      : MadeUp(streamed("16384x2048x2048", stream), candidate, pieces) {}
  MadeUp(const StreamedProblem& problem, const Candidate& candidate, int pieces)
      : schedule(make_schedule(problem, candidate)) {
    EXPECT_EQ(why_illegal(problem, candidate, test::kRoomy), "") << candidate.key();
    truth = simulate(test::machine(problem, 4e12), candidate, schedule);
    run.pieces.assign(schedule.chunks.size(), pieces);
    for (int s = 0; s < schedule.streams; ++s) run.streams.push_back(number_of(s));
    run.as_graph = candidate.submission == Submission::kGraph;
    run.begin_ns = kBegin_ns;
    run.end_ns = time_ns(truth.total_s);
    std::uint32_t call = 1000;
    for (std::size_t i = 0; i < schedule.operations.size(); ++i) {
      if (!schedule.operations[i].merged) call += 3;
      add(schedule.operations[i], truth.spans[i], pieces, call);
    }
    std::shuffle(run.activities.begin(), run.activities.end(), std::mt19937_64(5));
  }

  [[nodiscard]] Result<Timeline> timeline() const { return timeline_of_records(schedule, run); }
  [[nodiscard]] std::string reason() const {
    const auto made = timeline();
    return made ? "matched" : made.error().text();
  }
  void expect_truth(double within_s = 2e-9) const {
    const auto made = timeline();
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_TRUE(is_of(schedule, *made));
    EXPECT_EQ(made->source, TimelineSource::kRecords);
    EXPECT_FALSE(made->reason);
    EXPECT_NEAR(made->total_s, truth.total_s, within_s);
    for (std::size_t i = 0; i < truth.spans.size(); ++i) {
      EXPECT_NEAR(made->spans[i].start_s, truth.spans[i].start_s, within_s) << i;
      EXPECT_NEAR(made->spans[i].end_s, truth.spans[i].end_s, within_s) << i;
    }
  }
  /// The first record of the kind.
  Activity& first(ActivityKind kind) {
    return *std::min_element(run.activities.begin(), run.activities.end(), [&](const Activity& a, const Activity& b) {
      return std::make_pair(a.kind != kind, a.start_ns) < std::make_pair(b.kind != kind, b.start_ns);
    });
  }

  Schedule schedule;
  Timeline truth;
  RecordedRun run;

 private:
  void add(const Operation& operation, const Span& span, int pieces, std::uint32_t& call) {
    const bool product = operation.step == Step::kCompute;
    const int count = product ? pieces : 1;
    const double piece_s = (span.end_s - span.start_s) / count;
    for (int piece = 0; piece < count; ++piece) {
      Activity one;
      // A product begins with a fill where it has three pieces or more.
      one.kind = !product                   ? copy_kind(operation.step)
                 : piece == 0 && count >= 3 ? ActivityKind::kInside
                                            : ActivityKind::kKernel;
      one.name = one.kind == ActivityKind::kKernel ? "product" : "";
      one.start_ns = time_ns(span.start_s + piece * piece_s);
      one.end_ns = piece + 1 == count ? time_ns(span.end_s) : time_ns(span.start_s + (piece + 1) * piece_s);
      one.bytes = product ? 0 : operation.bytes;
      one.stream = number_of(operation.stream);
      one.call = product ? call++ : call;
      if (run.as_graph) {
        one.graph_node = (std::uint64_t{9} << 32) + ++nodes_;
        one.stream = 40 + static_cast<std::uint32_t>(nodes_ % 3);  // of the driver's own
        one.call = 77;                                             // the launch of the graph
      }
      run.activities.push_back(one);
    }
  }

  std::uint64_t nodes_ = 0;
};

const Candidate kRecordedLanes{.chunk = 1024, .use = StreamUse::kLanes, .buffers = 3};
const Candidate kRecordedStreams{.chunk = 3000, .streams = 3, .buffers = 3};
const Candidate kRecordedGraph{.chunk = 3000, .streams = 3, .buffers = 3, .submission = Submission::kGraph};
const Candidate kRecordedBatched{.chunk = 1024,
                                 .use = StreamUse::kLanes,
                                 .buffers = 4,
                                 .order = IssueOrder::kBreadthFirst,
                                 .submission = Submission::kBatched};

TEST(RecordedRun, EveryUseOfStreamsHasItsTimesBack) {
  int seen = 0;
  for (const char* stream : {"A,D", "A,B,D", "B", "D"}) {
    for (const auto& [use, use_word] : enum_table(StreamUse{})) {
      for (const auto& [order, order_word] : enum_table(IssueOrder{})) {
        for (const auto& [submission, submission_word] : enum_table(Submission{})) {
          for (const auto& [memory, memory_word] : enum_table(HostMemory{})) {
            const int streams = use == StreamUse::kPerChunk || use == StreamUse::kDefaultStream ? 3 : 1;
            const Candidate candidate{.chunk = 3000,
                                      .use = use,
                                      .streams = streams,
                                      .buffers = 4,
                                      .order = order,
                                      .memory = memory,
                                      .submission = submission};
            const StreamedProblem problem = streamed("16384x2048x2048", stream);
            if (!why_illegal(problem, candidate, test::kRoomy).empty()) continue;
            SCOPED_TRACE(stream + (" " + candidate.key()));
            MadeUp(problem, candidate, 1 + seen++ % 3).expect_truth();
          }
        }
      }
    }
  }
  EXPECT_GT(seen, 100);
}

TEST(RecordedRun, SeveralPiecesOfAProductAreOneSpan) {
  for (const Candidate& candidate : {kRecordedLanes, kRecordedStreams, kRecordedGraph})
    MadeUp(candidate, 3).expect_truth();
  // Pieces of a graph's product may begin in another order than they were captured in.
  MadeUp other_order(kRecordedGraph, 2);
  for (Activity& one : other_order.run.activities) {
    if (one.kind == ActivityKind::kKernel) one.graph_node ^= 1;
  }
  const auto first = other_order.first(ActivityKind::kKernel).graph_node;
  const auto second = std::count_if(other_order.run.activities.begin(), other_order.run.activities.end(),
                                    [&](const Activity& one) { return one.graph_node + 1 == first; });
  ASSERT_EQ(second, 1) << "the kernel that began first is the second node";
  other_order.expect_truth();
  // The last chunk is smaller, and its kernel needs no second one.
  MadeUp made(kRecordedStreams, 2);
  made.run.pieces.back() = 1;
  const int last = static_cast<int>(made.schedule.chunks.size()) - 1;
  EXPECT_THAT(made.reason(),
              HasSubstr("kernel product is where that of the copy out of chunk " + std::to_string(last)));
  const auto end_ns = time_ns(std::find_if(made.truth.spans.begin(), made.truth.spans.end(), [&](const Span& span) {
                                return span.chunk == last && span.step == Step::kCompute;
                              })->end_s);
  std::erase_if(made.run.activities,
                [&](const Activity& one) { return one.kind == ActivityKind::kKernel && one.end_ns == end_ns; });
  EXPECT_EQ(made.reason(), "matched");
}

TEST(RecordedRun, OtherWorkIsPassedOver) {
  for (const Candidate& candidate : {kRecordedLanes, kRecordedStreams, kRecordedGraph, kRecordedBatched}) {
    MadeUp made(candidate);
    const Activity kernel = made.first(ActivityKind::kKernel);
    Activity other = kernel;
    other.stream = 99;
    other.graph_node = 0;
    made.run.activities.push_back(other);  // of another stream
    other = kernel;
    other.call = 1;
    other.graph_node = candidate.submission == Submission::kGraph ? 1 : 0;
    other.start_ns = kBegin_ns - 2000;
    other.end_ns = kBegin_ns - 1000;
    made.run.activities.push_back(other);  // of earlier times
    if (candidate.submission != Submission::kGraph) {
      other = kernel;
      other.graph_node = 5;
      made.run.activities.push_back(other);  // of a graph
    }
    made.expect_truth();
  }
}

TEST(RecordedRun, WhatLacksOrIsLeftOverIsNoMatch) {
  for (const Candidate& candidate : {kRecordedLanes, kRecordedStreams, kRecordedGraph, kRecordedBatched}) {
    for (const ActivityKind kind : {ActivityKind::kKernel, ActivityKind::kCopyIn, ActivityKind::kCopyOut}) {
      SCOPED_TRACE(candidate.key() + " " + std::to_string(static_cast<int>(kind)));
      MadeUp missing(candidate);
      const auto gone = missing.run.activities.begin() + (&missing.first(kind) - missing.run.activities.data());
      missing.run.activities.erase(gone);
      EXPECT_NE(missing.reason(), "matched");
      MadeUp twice(candidate);
      Activity more = twice.first(kind);
      more.call += 100'000;
      more.graph_node += more.graph_node == 0 ? 0 : 100'000;
      twice.run.activities.push_back(more);
      EXPECT_THAT(twice.reason(), HasSubstr("left over"));
    }
  }
  MadeUp no_kernel(kRecordedStreams);
  std::erase_if(no_kernel.run.activities, [](const Activity& one) { return one.kind == ActivityKind::kKernel; });
  EXPECT_THAT(no_kernel.reason(), AllOf(HasSubstr("the record of a copy out of"),
                                        HasSubstr("is where that of the kernel of chunk 0 should be")));
  MadeUp none(kRecordedLanes);
  none.run.activities.clear();
  EXPECT_EQ(none.reason(), "there is no record of the copy in of chunk 0");
  MadeUp nothing(kRecordedLanes);
  nothing.run.pieces.front() = 0;
  EXPECT_THAT(nothing.reason(), HasSubstr("the kernel of chunk 0 consists of nothing"));
}

TEST(RecordedRun, WholeOperandsHaveTheirRecords) {
  MadeUp made({.chunk = 1024, .streams = 2, .buffers = 2}, 1, "A,B,D");
  made.expect_truth();
  made.first(ActivityKind::kCopyIn).bytes -= 2;
  EXPECT_THAT(made.reason(), AllOf(HasSubstr("the copy in of a whole operand has records of"), HasSubstr("bytes")));
}

TEST(RecordedRun, BytesAndTimesMustBeThoseOfACopy) {
  MadeUp bytes(kRecordedStreams);
  bytes.first(ActivityKind::kCopyOut).bytes += 1;
  EXPECT_THAT(bytes.reason(), HasSubstr("the copy out of chunk 0 has records of"));
  MadeUp unknown(kRecordedStreams);
  Activity& kernel = unknown.first(ActivityKind::kKernel);
  kernel.start_ns = kernel.end_ns = 0;
  EXPECT_EQ(unknown.reason(), "the record of the kernel of chunk 0 has no times");
  MadeUp backwards(kRecordedStreams);
  Activity& copy = backwards.first(ActivityKind::kCopyIn);
  copy.start_ns = copy.end_ns + 1;
  EXPECT_EQ(backwards.reason(), "the record of the copy in of chunk 0 has no times");
}

TEST(RecordedRun, ACopyMayHaveSeveralRecordsOfItsCall) {
  MadeUp made(kRecordedStreams);
  Activity& whole = made.first(ActivityKind::kCopyIn);
  Activity rest = whole;
  whole.bytes /= 4;
  rest.bytes -= whole.bytes;
  whole.end_ns = rest.start_ns = whole.start_ns + (whole.end_ns - whole.start_ns) / 4;
  made.run.activities.push_back(rest);
  made.expect_truth();
  made.run.activities.back().call += 1;  // another call's
  EXPECT_NE(made.reason(), "matched");
}

TEST(RecordedRun, CopiesOfOneCallAreToldApartOrShareItsTime) {
  MadeUp(kRecordedBatched).expect_truth();
  // A and B of a chunk in one call, and one record of both.
  Problem sum = parse_shape("1024x3072x16384").value();
  sum.trans_a = true;
  const StreamedProblem problem = parse_streamed(with_default_strides(sum).value(), "A,B").value();
  const Candidate both{.cut = Cut::kK, .chunk = 4096, .submission = Submission::kBatched};
  MadeUp made(problem, both, 1);
  made.expect_truth();
  ASSERT_TRUE(made.schedule.operations[1].merged);
  ASSERT_NE(made.schedule.operations[0].bytes, made.schedule.operations[1].bytes);
  const std::uint32_t call = made.first(ActivityKind::kCopyIn).call;
  Activity one = made.first(ActivityKind::kCopyIn);
  std::erase_if(made.run.activities, [&](const Activity& a) { return a.call == call; });
  one.bytes = made.schedule.operations[0].bytes + made.schedule.operations[1].bytes;
  one.start_ns = time_ns(0);
  one.end_ns = time_ns(made.truth.spans[1].end_s);
  made.run.activities.push_back(one);
  const auto shared = made.timeline();
  ASSERT_TRUE(shared) << shared.error().text();
  const double share =
      static_cast<double>(made.schedule.operations[0].bytes) / static_cast<double>(one.bytes) * shared->spans[1].end_s;
  EXPECT_NEAR(shared->spans[0].end_s, share, 1e-9);
  EXPECT_EQ(shared->spans[1].start_s, shared->spans[0].end_s);
  // The driver may make them in another order than they were given.
  MadeUp other_order(problem, both, 1);
  std::vector<Activity*> of_call;
  for (Activity& a : other_order.run.activities) {
    if (a.call == call) of_call.push_back(&a);
  }
  ASSERT_EQ(of_call.size(), 2U);
  std::swap(of_call[0]->bytes, of_call[1]->bytes);
  const auto swapped = other_order.timeline();
  ASSERT_TRUE(swapped) << swapped.error().text();
  EXPECT_GT(swapped->spans[0].start_s, swapped->spans[1].start_s);
}

TEST(RecordedRun, AGraphWhoseNodesAreInAnotherOrderIsNoMatch) {
  // All copies of one kind are alike: what tells is that a kernel begins after what it needs.
  MadeUp made({.chunk = 2048, .streams = 2, .buffers = 2, .submission = Submission::kGraph});
  made.expect_truth();
  std::vector<Activity*> kernels;
  for (Activity& one : made.run.activities) {
    if (one.kind == ActivityKind::kKernel) kernels.push_back(&one);
  }
  std::sort(kernels.begin(), kernels.end(), [](auto* a, auto* b) { return a->graph_node < b->graph_node; });
  for (std::size_t i = 0; i < kernels.size() / 2; ++i)
    std::swap(kernels[i]->graph_node, kernels[kernels.size() - 1 - i]->graph_node);
  EXPECT_THAT(made.reason(), AllOf(HasSubstr("by its record"), HasSubstr("began before"), HasSubstr("which it needs")));
}

TEST(RecordedRun, ClocksMayDifferALittle) {
  MadeUp late(kRecordedLanes), early(kRecordedLanes), other(kRecordedLanes);
  const auto shift_ns = static_cast<std::int64_t>(0.02e9 * late.truth.total_s);
  const auto shift = [](MadeUp& made, std::int64_t by_ns) {
    for (Activity& one : made.run.activities) {
      one.start_ns += by_ns;
      one.end_ns += by_ns;
    }
  };
  shift(late, shift_ns);
  const auto ends_later = late.timeline();
  ASSERT_TRUE(ends_later) << ends_later.error().text();
  EXPECT_TRUE(is_of(late.schedule, *ends_later));
  EXPECT_NEAR(ends_later->total_s, 1.02 * late.truth.total_s, 1e-8);
  shift(early, -shift_ns);
  const auto begins_earlier = early.timeline();
  ASSERT_TRUE(begins_earlier) << begins_earlier.error().text();
  EXPECT_TRUE(is_of(early.schedule, *begins_earlier));
  EXPECT_EQ(begins_earlier->spans[0].start_s, 0);
  EXPECT_NEAR(begins_earlier->spans[0].end_s, early.truth.spans[0].end_s, 1e-8);
  shift(other, 60'000'000'000);
  EXPECT_THAT(other.reason(), HasSubstr("are none of a run of"));
}

TEST(TimelineSource, IsSaidWithItsReason) {
  Timeline timeline;
  EXPECT_EQ(source_text(timeline), "events around each operation");
  timeline.reason = "cannot load CUPTI";
  EXPECT_EQ(source_text(timeline), "events around each operation: cannot load CUPTI");
  timeline.as_loop = true;
  timeline.source = TimelineSource::kRecords;
  EXPECT_EQ(source_text(timeline), "CUPTI's activity records, of the graph's operations as a loop: cannot load CUPTI");
  EXPECT_EQ(to_string(TimelineSource::kRecords), "cupti");
  EXPECT_EQ(to_string(TimelineSource::kEvents), "events");
}

}  // namespace
}  // namespace pgtune::pipeline
