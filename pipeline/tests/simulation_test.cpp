// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include <algorithm>

#include "pipeline/plan/candidate.hpp"
#include "pipeline/plan/machine.hpp"
#include "pipeline/tests/sample_machine.hpp"

namespace pgtune::pipeline {
namespace {

using test::machine;
using test::seconds;
using test::streamed;

// A and D of 64 MiB each, B of 8 MiB: 0.067 s each way at 1 GB/s.
StreamedProblem balanced() { return streamed("16384x2048x2048", "A,D"); }
double copy_s() { return 16384.0 * 2048 * 2 / 1e9; }
/// Kernels that take as long as a copy.
double balanced_flops() { return 2.0 * 16384 * 2048 * 2048 / copy_s(); }

TEST(Simulation, TheSerialLoopTakesTheSumOfItsSteps) {
  const StreamedProblem problem = balanced();
  Candidate serial{.chunk = 1024, .submission = Submission::kBlocking};
  EXPECT_NEAR(seconds(machine(problem, balanced_flops()), problem, serial), 3 * copy_s(), 1e-6);
  serial.memory = HostMemory::kPageable;
  EXPECT_NEAR(seconds(machine(problem, balanced_flops()), problem, serial), 5 * copy_s(), 1e-6);
}

TEST(Simulation, TheSerialLoopWaitsForEachOperation) {
  const StreamedProblem problem = balanced();
  Machine m = machine(problem, balanced_flops());
  m.rates.wait_s = 1e-3;
  Candidate serial{.chunk = 1024, .submission = Submission::kBlocking};
  EXPECT_NEAR(seconds(m, problem, serial), 3 * copy_s() + 47e-3, 1e-6);  // 48 operations
  serial.submission = Submission::kLoop;
  EXPECT_NEAR(seconds(m, problem, serial), 3 * copy_s(), 1e-6);
}

TEST(Simulation, ThreeBalancedWorkersTakeATurnEachAndFillAndDrain) {
  const StreamedProblem problem = balanced();
  const Candidate lanes{.chunk = 1024, .use = StreamUse::kLanes, .buffers = 3};
  // 16 chunks: the slowest worker's work and two chunks to fill and drain.
  EXPECT_NEAR(seconds(machine(problem, balanced_flops()), problem, lanes), copy_s() * (1 + 2.0 / 16), 1e-6);
}

TEST(Simulation, OneCopyEngineAddsUpTheDirections) {
  const StreamedProblem problem = balanced();
  Machine one = machine(problem, 100 * balanced_flops());
  one.one_copy_engine = true;
  const Candidate lanes{.chunk = 1024, .use = StreamUse::kLanes, .buffers = 3};
  EXPECT_GE(seconds(one, problem, lanes), 1.999 * copy_s());
  const Candidate shared{.chunk = 1024, .use = StreamUse::kOneCopyLane, .buffers = 3};
  EXPECT_GE(seconds(machine(problem, 100 * balanced_flops()), problem, shared), 1.999 * copy_s());
}

TEST(Simulation, ASharedBusSlowsBothDirections) {
  const StreamedProblem problem = balanced();
  Machine bus = machine(problem, 100 * balanced_flops());
  const Candidate lanes{.chunk = 1024, .use = StreamUse::kLanes, .buffers = 3};
  const double free_s = seconds(bus, problem, lanes);
  bus.rates.pinned_in_both = bus.rates.pinned_out_both = 0.5e9;
  EXPECT_GT(seconds(bus, problem, lanes), 1.8 * free_s);
}

TEST(Simulation, OneBufferKeepsCopyInAndKernelApart) {
  // The buffer of A is free once the kernel has ended, so that only the copy out is hidden.
  const StreamedProblem problem = balanced();
  const Candidate one{.chunk = 1024, .use = StreamUse::kLanes, .buffers = 1};
  EXPECT_NEAR(seconds(machine(problem, balanced_flops()), problem, one), copy_s() * (2 + 1.0 / 16), 1e-6);
}

TEST(Simulation, OrderMattersWhereAWorkerTakesOperationsAsIssued) {
  // The classic trap: with one queue, a copy out that waits for its kernel holds up the next chunk's copy in.
  const StreamedProblem problem = balanced();
  Machine old = machine(problem, balanced_flops());
  old.in_issue_order = old.one_copy_engine = true;
  Candidate depth{.chunk = 1024, .streams = 2, .buffers = 2};
  Candidate breadth = depth;
  breadth.order = IssueOrder::kBreadthFirst;
  EXPECT_GT(seconds(old, problem, depth), 1.2 * seconds(old, problem, breadth));
  Machine young = machine(problem, balanced_flops());
  EXPECT_NEAR(seconds(young, problem, depth) / seconds(young, problem, breadth), 1, 0.1);
}

TEST(Simulation, TheDefaultStreamSerialises) {
  const StreamedProblem problem = balanced();
  const Candidate streams{.chunk = 1024, .streams = 4, .buffers = 4};
  Candidate trapped = streams;
  trapped.use = StreamUse::kDefaultStream;
  const Machine m = machine(problem, balanced_flops());
  EXPECT_GT(seconds(m, problem, trapped), 1.5 * seconds(m, problem, streams));
}

TEST(Simulation, StagingIsLimitedByTheHostsCopies) {
  const StreamedProblem problem = balanced();
  Machine m = machine(problem, 100 * balanced_flops());
  m.rates.host_copy = 0.25e9;
  const Candidate staged{.chunk = 1024, .streams = 4, .buffers = 4, .memory = HostMemory::kStaged};
  EXPECT_GE(seconds(m, problem, staged), 4 * copy_s());
  m.rates.host_copy = 100e9;
  EXPECT_LT(seconds(m, problem, staged), 1.3 * copy_s());
}

TEST(Simulation, CallsCostTheHostTimeUnlessAGraphMakesThem) {
  const StreamedProblem problem = balanced();
  Machine m = machine(problem, 100 * balanced_flops());
  m.rates.issue_s = 0.01;  // 48 calls
  Candidate lanes{.chunk = 1024, .use = StreamUse::kLanes, .buffers = 3};
  EXPECT_GT(seconds(m, problem, lanes), 0.4);
  lanes.submission = Submission::kGraph;
  EXPECT_LT(seconds(m, problem, lanes), 0.1);
}

constexpr Candidate kBatched{.chunk = 1024,
                             .use = StreamUse::kLanes,
                             .buffers = 4,
                             .order = IssueOrder::kBreadthFirst,
                             .submission = Submission::kBatched};

TEST(Schedule, ABatchBeginsAndEndsAsOne) {
  const Schedule schedule = make_schedule(balanced(), kBatched);
  std::vector<int> calls;
  for (std::size_t first = 0, end = 0; first < schedule.operations.size(); first = end) {
    end = end_of_call(schedule, first);
    calls.push_back(static_cast<int>(end - first));
    if (end - first == 1) continue;
    EXPECT_EQ(schedule.operations[first].stream, schedule.operations[end - 1].stream);
    EXPECT_TRUE(schedule.operations[end - 1].needs.empty());
    // The third group takes over the buffers of the first, as a whole.
    const Operation& operation = schedule.operations[first];
    const int before = static_cast<int>(first) - 1;
    if (operation.step == Step::kCopyOut) {
      EXPECT_EQ(operation.needs, (std::vector{before - 1, before}));
    } else if (operation.chunk == 4) {
      EXPECT_EQ(operation.needs, (std::vector{2, 3}));
    }
  }
  EXPECT_EQ(calls.size(), 16U / 2 * 4);                       // of a group: in, two kernels, out
  EXPECT_EQ(schedule.operations[2].needs, (std::vector{1}));  // the first kernel, of the whole batch
}

TEST(Simulation, ABatchCostsOneCallAndOneTurn) {
  const StreamedProblem problem = balanced();
  Machine m = machine(problem, 100 * balanced_flops());
  const double copying_s = seconds(m, problem, kBatched);
  m.rates.latency_s = 1e-3;
  EXPECT_NEAR(seconds(m, problem, kBatched) - copying_s, 9e-3, 1e-4);  // eight groups and the last one's way out
  const Candidate lanes{.chunk = 1024, .use = StreamUse::kLanes, .buffers = 4};
  m.rates.latency_s = 0;
  m.rates.issue_s = 0.01;
  // Of a group of two chunks a batch has four calls, and the loop six.
  EXPECT_NEAR(seconds(m, problem, lanes) / seconds(m, problem, kBatched), 1.5, 0.1);
}

TEST(Timeline, CopiesOfOneCallShareItsTimeByTheirBytes) {
  const Schedule schedule = make_schedule(streamed("1536x2048x2048", "A"), [] {
    Candidate candidate = kBatched;
    candidate.chunk = 384;
    return candidate;
  }());
  ASSERT_EQ(schedule.operations.size(), 8U);  // A of four chunks and their kernels
  const Timeline timeline =
      timeline_of_marks(schedule, {{0, 4}, {0, 4}, {4, 5}, {5, 6}, {4, 8}, {4, 8}, {8, 9}, {9, 10}}, 10);
  EXPECT_EQ(timeline.spans[0].end_s, 2);
  EXPECT_EQ(timeline.spans[1].start_s, 2);
  EXPECT_EQ(timeline.spans[1].end_s, 4);
  EXPECT_EQ(timeline.spans[4].end_s, 6);
  EXPECT_TRUE(is_of(schedule, timeline));
}

TEST(Simulation, KernelsAlongKFollowEachOther) {
  StreamedProblem problem = streamed("2048x2048x16384", "A,B,D", Dtype::kF32);
  const Machine m = machine(problem, 2.0 * 2048 * 2048 * 16384 / 0.1);
  const Candidate candidate{.cut = Cut::kK, .chunk = 1024, .streams = 4, .buffers = 4};
  const Schedule schedule = make_schedule(problem, candidate);
  const Timeline timeline = simulate(m, candidate, schedule);
  double last_s = 0;
  for (const Span& span : timeline.spans) {
    if (span.step != Step::kCompute) continue;
    EXPECT_GE(span.start_s, last_s - 1e-9);
    last_s = span.end_s;
  }
  EXPECT_EQ(schedule.operations.back().step, Step::kCopyOut);
  EXPECT_EQ(schedule.operations.back().chunk, kNoChunk);
  EXPECT_NEAR(timeline.spans.back().start_s, last_s, 1e-9);
}

TEST(Simulation, NothingBeginsBeforeWhatItNeeds) {
  const StreamedProblem problem = streamed("8192x4096x2048", "A,B,D");
  const Machine m = machine(problem, 1e13);
  for (const Cut cut : {Cut::kM, Cut::kN}) {
    for (const Candidate& candidate : enumerate(problem, {test::kRoomy, cut, {}}).candidates) {
      if (candidate.chunk < 512) continue;
      const Schedule schedule = make_schedule(problem, candidate);
      const Timeline timeline = simulate(m, candidate, schedule);
      ASSERT_EQ(timeline.spans.size(), schedule.operations.size());
      for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
        for (const int need : schedule.operations[i].needs)
          ASSERT_GE(timeline.spans[i].start_s, timeline.spans[static_cast<std::size_t>(need)].end_s - 1e-9)
              << candidate.key();
      }
    }
  }
}

TEST(Bound, IsTheSlowestWorkersWorkWithFillAndDrain) {
  const StreamedProblem problem = balanced();
  const Bound bound = bound_of(problem, machine(problem, balanced_flops() / 2), Cut::kM, 1024);
  EXPECT_EQ(bound.limiter, Limiter::kCompute);
  EXPECT_NEAR(bound.work_s, 2 * copy_s(), 1e-9);
  EXPECT_NEAR(bound.fill_s, copy_s() / 16, 1e-9);
  EXPECT_NEAR(bound.drain_s, copy_s() / 16, 1e-9);
}

TEST(Bound, HoldsForEveryCandidateOfTheChunking) {
  const StreamedProblem problem = balanced();
  for (const double share : {0.3, 1.0, 3.0}) {
    Machine m = machine(problem, share * balanced_flops());
    m.rates.pinned_in_both = m.rates.pinned_out_both = 0.8e9;
    m.rates.latency_s = 2e-5;
    m.rates.turns = {{StreamUse::kLanes, 1, Submission::kLoop, 1e-5},
                     {StreamUse::kLanes, 1, Submission::kBatched, 2e-5}};
    for (const Candidate& candidate : enumerate(problem, {test::kRoomy, Cut::kM, {}}).candidates) {
      if (candidate.chunk < 512 || candidate.memory == HostMemory::kMapped) continue;
      const Bound bound = bound_of(problem, m, Cut::kM, candidate.chunk);
      ASSERT_GE(seconds(m, problem, candidate), bound.total_s * (1 - 1e-6)) << candidate.key();
    }
  }
}

TEST(Bound, TheBusIsAWorkerWhereDirectionsSlowEachOther) {
  const StreamedProblem problem = balanced();
  Machine m = machine(problem, 100 * balanced_flops());
  m.rates.pinned_in_both = m.rates.pinned_out_both = 0.6e9;
  const Bound bound = bound_of(problem, m, Cut::kM, 128);
  EXPECT_EQ(bound.limiter, Limiter::kBus);
  EXPECT_NEAR(bound.total_s, copy_s() / 0.6, 1e-9);
}

TEST(StreamTurns, AreFoundAgainFromLoopsOfCopies) {
  const StreamedProblem copies = turns_problem(4 << 20);
  Machine m;
  m.rates = {55e9, 55e9, 51e9, 50.5e9, 7e9, 13e9, 7e9, 13e9, 26e9, 2.7e-6, 1.5e-6};
  m.rates.turns.emplace();
  const std::vector<Candidate> candidates = turns_candidates(copies, true);
  EXPECT_EQ(candidates.size(), turns_candidates(copies, false).size() + 1);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& one = candidates[i];
    ASSERT_EQ(why_illegal(copies, one, test::kRoomy), "") << one.key();
    const double turn_s = 3e-6 + 1e-6 * static_cast<double>(i);
    m.rates.turns->push_back({one.use, one.streams, one.submission, turn_s});
    EXPECT_EQ(before_copy(m.rates, one), turn_s);
    CopyRates rates = m.rates;
    rates.turns.reset();
    EXPECT_NEAR(turn_of(copies, rates, one, seconds(m, copies, one)).turn_s, turn_s, 0.1 * turn_s) << one.key();
  }
  Candidate other = candidates.front();
  other.memory = HostMemory::kStaged;
  EXPECT_EQ(before_copy(m.rates, other), m.rates.latency_s);
}

TEST(StreamTurns, RaiseRatesAtOnceThatAreLowerThanWhatTheLoopsCopied) {
  const StreamedProblem copies = turns_problem(8 << 20);
  Machine truth;
  truth.rates = {55e9, 55e9, 51e9, 50.5e9, 7e9, 13e9, 7e9, 13e9, 26e9, 2.7e-6, 1.5e-6};
  truth.rates.turns.emplace();
  std::vector<TurnsLoop> loops;
  for (const Candidate& one : turns_candidates(copies, false)) {
    truth.rates.turns->push_back({one.use, one.streams, one.submission, 5e-6});
    loops.push_back({one, seconds(truth, copies, one)});
  }
  CopyRates measured = truth.rates;
  const CopyRates right = with_turns(copies, measured, loops);
  EXPECT_EQ(right.pinned_in_both, 51e9);
  EXPECT_EQ(right.pinned_out_both, 50.5e9);
  ASSERT_EQ(right.turns->size(), loops.size());
  for (const StreamTurn& turn : *right.turns) EXPECT_NEAR(turn.turn_s, 5e-6, 5e-7);

  measured.pinned_in_both *= 0.9;
  measured.pinned_out_both *= 0.9;
  const CopyRates raised = with_turns(copies, measured, loops);
  EXPECT_NEAR(raised.pinned_in_both, 51e9, 0.02 * 51e9);
  EXPECT_NEAR(raised.pinned_out_both, 50.5e9, 0.02 * 50.5e9);
  for (const StreamTurn& turn : *raised.turns) EXPECT_GE(turn.turn_s, 0.6 * measured.latency_s);

  for (TurnsLoop& loop : loops) loop.measured_s /= 2;
  const CopyRates most = with_turns(copies, measured, loops);
  EXPECT_EQ(most.pinned_in_both, most.pinned_in);
  EXPECT_EQ(most.pinned_out_both, most.pinned_out);
  EXPECT_TRUE(with_turns(copies, measured, {}).turns->empty());
}

TEST(FirstGuess, PrefersTheStreamsWhoseTurnsCostLess) {
  const StreamedProblem problem = balanced();
  Machine m = machine(problem, 10 * balanced_flops());
  m.rates.latency_s = m.rates.issue_s = 1e-6;
  m.rates.turns.emplace();
  for (const Candidate& one : turns_candidates(turns_problem(4 << 20), true))
    m.rates.turns->push_back({one.use, one.streams, one.submission, one.use == StreamUse::kLanes ? 1e-6 : 1e-4});
  const auto expected = expect(problem, m, enumerate(problem, {test::kRoomy, Cut::kM, {}}).candidates);
  EXPECT_EQ(expected.front().candidate.use, StreamUse::kLanes);
}

TEST(ExpectedTime, AtThePowerCapIsOfKernelsThatRunAllTheTime) {
  const StreamedProblem problem = balanced();
  const Candidate lanes{.chunk = 1024, .use = StreamUse::kLanes, .buffers = 3};
  const Candidate serial{.chunk = 1024, .submission = Submission::kBlocking};
  Machine m = machine(problem, balanced_flops() / 2);
  const double lanes_s = expected_time(problem, m, lanes), serial_s = expected_time(problem, m, serial);
  m.slowdown = 1.25;
  EXPECT_NEAR(expected_time(problem, m, lanes) - lanes_s, 0.25 * 2 * copy_s(), 1e-6);
  EXPECT_EQ(expected_time(problem, m, lanes), bound_of(problem, m, Cut::kM, 1024).total_s);
  EXPECT_EQ(expected_time(problem, m, serial), serial_s);  // kernels rest half of the time
}

TEST(FirstGuess, ReachesMostOfTheBoundOnItsOwnMachine) {
  const StreamedProblem problem = balanced();
  for (const double share : {0.3, 1.0, 3.0}) {
    Machine m = machine(problem, share * balanced_flops());
    m.rates.latency_s = 1e-5;
    m.rates.issue_s = 3e-6;
    const auto expected = expect(problem, m, enumerate(problem, {test::kRoomy, Cut::kM, {}}).candidates);
    const SpaceBound bound = least_bound(problem, m, {Cut::kM});
    EXPECT_GT(bound.bound.total_s / expected.front().time_s, 0.97);
    EXPECT_LE(expected.front().time_s, expected.back().time_s);
  }
}

TEST(Gaps, HaveTheirCauses) {
  const StreamedProblem problem = balanced();
  const Machine m = machine(problem, balanced_flops());
  const auto causes = [&](const Machine& on, const Candidate& candidate, Step worker) {
    const Schedule schedule = make_schedule(problem, candidate);
    std::set<GapCause> found;
    for (const Gap& gap : gaps_of(schedule, simulate(on, candidate, schedule), 1e-6)) {
      if (gap.worker == worker) found.insert(gap.cause);
    }
    return found;
  };
  const Candidate lanes{.chunk = 1024, .use = StreamUse::kLanes, .buffers = 3};
  EXPECT_EQ(causes(m, lanes, Step::kCompute), (std::set{GapCause::kFill, GapCause::kDrain}));
  const Machine fast = machine(problem, 4 * balanced_flops());
  EXPECT_THAT(causes(fast, lanes, Step::kCompute), ::testing::Contains(GapCause::kCopyIn));
  const Candidate one{.chunk = 1024, .use = StreamUse::kLanes, .buffers = 1};
  EXPECT_THAT(causes(m, one, Step::kCopyIn), ::testing::Contains(GapCause::kBuffer));
  const Machine slow = machine(problem, balanced_flops() / 4);
  EXPECT_THAT(causes(slow, lanes, Step::kCopyOut), ::testing::Contains(GapCause::kCompute));
  const Candidate trap{.chunk = 1024, .use = StreamUse::kDefaultStream, .streams = 4, .buffers = 4};
  EXPECT_THAT(causes(m, trap, Step::kCopyIn), ::testing::Contains(GapCause::kFalseDependency));
}

TEST(Gaps, ACopyThatWaitsForTheOtherDirectionWaitsForTheBus) {
  const StreamedProblem problem = balanced();
  const Schedule schedule = make_schedule(problem, {.chunk = 8192, .streams = 2, .buffers = 2});
  // Chunk 0: in, kernel, out; chunk 1's kernel ends early, and its copy out begins when the copy in it met has ended.
  Timeline timeline;
  timeline.total_s = 9;
  timeline.spans = {{0, Step::kCopyIn, 0, 0, 1}, {1, Step::kCompute, 0, 1, 2}, {2, Step::kCopyOut, 0, 2, 3},
                    {3, Step::kCopyIn, 1, 1, 7}, {4, Step::kCompute, 1, 2, 3}, {5, Step::kCopyOut, 1, 7, 8}};
  const auto gaps = gaps_of(schedule, timeline, 0.01);
  EXPECT_THAT(gaps, ::testing::Contains(Gap{Step::kCopyOut, 3, 7, GapCause::kBus}));
}

TEST(Timeline, MarksOfEventsGiveTheWorkersTimes) {
  // Two chunks in two streams: both copies were called at once, and the second one waited for the first.
  const StreamedProblem problem = balanced();
  const Candidate two{.chunk = 8192, .streams = 2, .buffers = 2};
  const Schedule schedule = make_schedule(problem, two);
  ASSERT_EQ(schedule.operations.size(), 6U);
  const Timeline timeline = timeline_of_marks(schedule, {{0, 1}, {1, 3}, {3, 4}, {0, 2}, {2, 5}, {5, 6}}, 6);
  EXPECT_EQ(timeline.spans[3].start_s, 1);
  EXPECT_EQ(timeline.spans[3].end_s, 2);
  EXPECT_EQ(timeline.spans[4].start_s, 3);
  EXPECT_EQ(timeline.spans[5].end_s, 6);
}

TEST(Simulation, EndsWhereACopyIsTooShortForTheClock) {
  const StreamedProblem problem = balanced();
  const Candidate lanes{.chunk = 1024, .use = StreamUse::kLanes, .buffers = 3};
  Machine odd = machine(problem, balanced_flops());
  odd.rates.latency_s = 1e6;  // after which nothing adds up to a later moment
  odd.rates.pinned_in = odd.rates.pinned_in_both = 1e18;
  EXPECT_GT(seconds(odd, problem, lanes), 16e6);
}

}  // namespace
}  // namespace pgtune::pipeline
