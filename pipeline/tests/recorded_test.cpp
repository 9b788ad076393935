// SPDX-License-Identifier: MIT
// The model beside what an H200 took: what was derived from 262144x1024x1024, turns, waiting and how
// often zero-copy reads A, must explain 131072x4096x4096, whose copies are larger and whose kernels take longer.
#include <gtest/gtest.h>

#include "pipeline/tests/sample_machine.hpp"

namespace pgtune::pipeline {
namespace {

class Recorded : public ::testing::Test {
 protected:
  Recorded() {
    machine_.rates = {55.345e9, 55.137e9, 51.950e9, 50.523e9, 7.690e9, 13.424e9,
                      7.719e9,  13.910e9, 38.568e9, 2.668e-6, 1.370e-6};
    machine_.compute[Cut::kM] = {{1408, 75.968e-6}, {2048, 93.888e-6}};
    machine_.rates.wait_s = 4.74e-6;
    machine_.rates.turns = {
        {StreamUse::kPerChunk, 2, Submission::kLoop, 4.22e-6},  {StreamUse::kPerChunk, 3, Submission::kLoop, 9.11e-6},
        {StreamUse::kPerChunk, 4, Submission::kLoop, 12.75e-6}, {StreamUse::kPerChunk, 4, Submission::kGraph, 8.28e-6},
        {StreamUse::kPerChunk, 8, Submission::kLoop, 11.61e-6}, {StreamUse::kLanes, 1, Submission::kLoop, 4.04e-6},
        {StreamUse::kLanes, 1, Submission::kGraph, 4.10e-6}};
  }

  struct Took {
    Candidate candidate;
    double time_s;
  };
  static std::vector<Took> took() {
    const Candidate base{.chunk = 1408};
    const auto streams = [&](int count, Submission submission = Submission::kLoop) {
      Candidate candidate = base;
      candidate.streams = candidate.buffers = count;
      candidate.submission = submission;
      return candidate;
    };
    Candidate lanes = base;
    lanes.use = StreamUse::kLanes;
    lanes.buffers = 2;
    Candidate best = lanes;
    best.chunk = 2048;
    Candidate trap = streams(4);
    trap.use = StreamUse::kDefaultStream;
    return {{best, 21.832e-3},       {lanes, 21.870e-3},
            {streams(3), 22.320e-3}, {streams(4, Submission::kGraph), 22.350e-3},
            {streams(4), 22.696e-3}, {streams(8), 22.767e-3},
            {streams(2), 25.156e-3}, {trap, 29.116e-3},
            {streams(1), 46.706e-3}, {streams(1, Submission::kBlocking), 48.263e-3}};
  }

  Machine machine_;
  StreamedProblem problem_ = test::streamed("131072x4096x4096", "A,D");
};

TEST_F(Recorded, EveryPipelineIsExpectedToTakeWhatItTook) {
  for (const Took& one : took())
    EXPECT_NEAR(expected_time(problem_, machine_, one.candidate) / one.time_s, 1, 0.015) << one.candidate.key();
}

/// The width of a tile follows from the first of the three problems; the others are predicted.
TEST(RecordedZeroCopy, ReadsAOnceForEachColumnOfTiles) {
  struct Took {
    const char* shape;
    double in, out, in_both, out_both;  ///< GB/s
    double time_s;
  };
  for (const Took& took : {Took{"262144x1024x1024", 55.4, 55.2, 50.9, 50.6, 43.30e-3},
                           Took{"131072x4096x4096", 55.3, 55.1, 52.0, 50.5, 335.9e-3},
                           Took{"65536x16384x16384", 55.2, 55.0, 51.2, 50.6, 2678e-3}}) {
    const StreamedProblem problem = test::streamed(took.shape, "A,D");
    Machine machine;
    machine.rates.pinned_in = 1e9 * took.in;
    machine.rates.pinned_out = 1e9 * took.out;
    machine.rates.pinned_in_both = 1e9 * took.in_both;
    machine.rates.pinned_out_both = 1e9 * took.out_both;
    const Candidate zero_copy{.chunk = problem.problem.m, .memory = HostMemory::kMapped};
    EXPECT_NEAR(expected_time(problem, machine, zero_copy) / took.time_s, 1, 0.03) << took.shape;
  }
}

TEST_F(Recorded, TheFastestIsGuessed) {
  std::vector<Candidate> candidates;
  for (const Took& one : took()) candidates.push_back(one.candidate);
  std::reverse(candidates.begin(), candidates.end());
  EXPECT_EQ(expect(problem_, machine_, candidates).front().candidate, took().front().candidate);
  machine_.rates.turns.reset();
  EXPECT_NE(expect(problem_, machine_, candidates).front().candidate, took().front().candidate);
}

}  // namespace
}  // namespace pgtune::pipeline
