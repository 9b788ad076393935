// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_search.hpp"
#include "tuner/operation/gemm_operation.hpp"
#include "tuner/session/answer/session_notes.hpp"

namespace pgtune::session {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Sample> samples_at(const std::vector<double>& clocks_mhz) {
  std::vector<Sample> out;
  for (const double clock : clocks_mhz) out.push_back({Stage::kFinal, 1, 0, 1, 0.02, clock * 1e6});
  return out;
}

TEST(BaselineNotes, WhatCublasLtLeavesOutIsSaid) {
  Problem problem;
  for (const Activation activation : {Activation::kNone, Activation::kRelu, Activation::kGelu}) {
    problem.epilogue = {true, activation};
    EXPECT_THAT(baseline_notes(problem, {}), IsEmpty());
  }
  problem.epilogue.activation = Activation::kSilu;
  EXPECT_THAT(baseline_notes(problem, {}), ElementsAre(HasSubstr("cuBLASLt has no silu")));
}

TEST(BaselineNotes, ALargerProblemThatWasTimedInsteadIsNamed) {
  Problem problem;
  problem.m = problem.n = problem.k = 1001;
  problem.dtype = Dtype::kE4m3;
  BaselineReport baseline;
  baseline.enlarged_shape = "1008x1008x1008";
  EXPECT_THAT(
      baseline_notes(problem, baseline),
      ElementsAre("cuBLASLt does not take 1001x1001x1001 in e4m3: it was timed on 1008x1008x1008, with zeros added"));
  problem.epilogue.activation = Activation::kSilu;
  EXPECT_THAT(baseline_notes(problem, baseline),
              ElementsAre(HasSubstr("cuBLASLt has no silu"), HasSubstr("with zeros added")));
}

TEST(BaselineNotes, WhatLaunchesCopyIsSaidWithWhatTheProductAloneTakes) {
  Problem problem;
  problem.dtype = Dtype::kE4m3;
  problem.k = 256;
  BaselineReport baseline;
  baseline.library = "cuBLASLt 13.1.0";
  baseline.copied = "A, B";
  baseline.others = {{"cuBLASLt 13.1.0" + std::string(kLaidOutBefore), "its best", 1.25e-3}};
  EXPECT_THAT(
      baseline_notes(problem, baseline),
      ElementsAre("cuBLASLt takes e4m3 only along K, in rows at multiples of 16 bytes: in every launch A, B "
                  "are copied for it, which is in its time as laying operands out is in pgtune's",
                  testing::AllOf(HasSubstr("product alone takes 1.25 ms"), HasSubstr("stored so (--layout nt)"))));
  problem.k = 250;
  EXPECT_THAT(baseline_notes(problem, baseline).back(), HasSubstr("stored so (--layout nt --lda 256 --ldb 256)"));
  baseline.copied = "D";
  baseline.others[0].time_s = 0;
  baseline.others[0].unavailable = "no event";
  EXPECT_THAT(baseline_notes(problem, baseline),
              ElementsAre(HasSubstr("16 bytes, and not all extents: in every launch D is copied for it"),
                          HasSubstr("operands laid out before is not there to be compared with: no event")));
}

TEST(BaselineNotes, ALibraryThatIsNotThereIsNamedWithTheReason) {
  BaselineReport baseline;
  baseline.library = "copy";
  baseline.others = {{"cuBLASLt 13.1.0", "", 0, "it has no algorithm"}, {"other", "its best", 1e-3}};
  EXPECT_THAT(baseline_notes({}, baseline),
              ElementsAre("cuBLASLt 13.1.0 is not there to be compared with: it has no algorithm"));
}

TEST(BaselineNotes, ChecksWithoutUnmappedMemoryAreNamed) {
  BaselineReport baseline;
  baseline.unguarded = "the GPU has no virtual memory management";
  EXPECT_THAT(baseline_notes({}, baseline), ElementsAre(HasSubstr("(the GPU has no virtual memory management)")));
}

Problem copying(bool null_test, bool tolerated) {
  OperationProblem operation;
  operation.name = "copying";
  operation.null_test = null_test;
  operation.buffers.resize(2);
  OperationBuffer& output = operation.buffers.back();
  output.name = "Y";
  output.type = ElementType::kBfloat16;
  output.role = BufferRole::kOut;
  output.error = {1e-3, 0.02, 0};
  output.tolerated = tolerated;
  Problem problem;
  problem.operation = OperationHandle(std::move(operation));
  return problem;
}

TEST(CheckNotes, WhatTheCheckDoesNotShowIsSaid) {
  EXPECT_THAT(check_notes({}), IsEmpty());
  EXPECT_THAT(check_notes(copying(true, false)), IsEmpty());
  EXPECT_THAT(check_notes(copying(false, false)),
              ElementsAre("the operation 'copying' leaves out the null test (\"null_test\": false): nothing shows that "
                          "its check tells a right result from a wrong one"));
  EXPECT_THAT(check_notes(copying(true, true)),
              ElementsAre("Y was judged by a tolerance of its operation's author (allclose, relative 0.02, absolute "
                          "0.001) and not by a derived bound: results that pass may be less exact than bf16 allows"));
  EXPECT_THAT(check_notes(copying(false, true)), testing::SizeIs(2));
}

TEST(CheckNotes, AreNoneOfGemmWhoseBoundIsDerived) {
  TestSearch search;
  const Problem gemm = operation::with_operation(search.problem).value();
  ASSERT_FALSE(gemm.operation->null_test);
  EXPECT_THAT(check_notes(gemm), IsEmpty());
}

TEST(DataNotes, EasyDataAreNamed) {
  EXPECT_THAT(data_notes({}), IsEmpty());
  Conditions zeros;
  zeros.data = DataDistribution::kZeros;
  EXPECT_THAT(data_notes(zeros), ElementsAre(HasSubstr("the data are zeros")));
  zeros.data = DataDistribution::kIntegers;
  EXPECT_THAT(data_notes(zeros), ElementsAre(HasSubstr("the data are integers")));
}

TEST(ClockNotes, AMoveOfMoreThanThreePercentIsNamedWithItsRemedy) {
  EXPECT_THAT(clock_notes({}, samples_at({1980, 1975, 1970, 1930})), IsEmpty());
  EXPECT_THAT(
      clock_notes({}, samples_at({1800, 1800, 1980, 1980})),
      ElementsAre(testing::AllOf(HasSubstr("1800 to 1980 MHz"), HasSubstr("(10.0 %)"), HasSubstr("--lock-clocks"))));
  Conditions locked;
  locked.locked_sm_clock_hz = 1.8e9;
  EXPECT_THAT(clock_notes(locked, samples_at({1500, 1500, 1800, 1800})), ElementsAre(Not(HasSubstr("--lock-clocks"))));
}

TEST(ClockNotes, SingleOutliersAndMissingClocksSayNothing) {
  std::vector<double> clocks(40, 1980);
  clocks[7] = 1200;
  EXPECT_THAT(clock_notes({}, samples_at(clocks)), IsEmpty());
  EXPECT_THAT(clock_notes({}, samples_at({0, 0})), IsEmpty());
}

/// So many samples of launches in graphs, and so many of launches one by one.
std::vector<Sample> samples_of(int in_graphs, int one_by_one) {
  std::vector<Sample> out = samples_at(std::vector<double>(static_cast<std::size_t>(in_graphs + one_by_one), 1980));
  for (int i = 0; i < in_graphs; ++i) out[static_cast<std::size_t>(i)].graph = true;
  return out;
}

TEST(LaunchNotes, OnlyOneSideInGraphsIsSaidWithWhomItFavours) {
  EXPECT_THAT(launch_notes(samples_of(0, 24), samples_of(20, 4)),
              ElementsAre(testing::AllOf(HasSubstr("0 % of the winner's samples and 83 % of the baseline's"),
                                         HasSubstr("the ratio is too low by"), HasSubstr("--force"))));
  EXPECT_THAT(launch_notes(samples_of(8, 0), samples_of(0, 8)), ElementsAre(HasSubstr("the ratio is too high by")));
}

TEST(LaunchNotes, EqualSidesAndMissingSamplesSayNothing) {
  EXPECT_THAT(launch_notes(samples_of(24, 0), samples_of(24, 0)), IsEmpty());
  EXPECT_THAT(launch_notes(samples_of(0, 24), samples_of(0, 24)), IsEmpty());
  EXPECT_THAT(launch_notes(samples_of(1, 23), samples_of(0, 24)), IsEmpty()) << "the first of a late switch";
  EXPECT_THAT(launch_notes({}, samples_of(24, 0)), IsEmpty());
  EXPECT_THAT(launch_notes(samples_of(24, 0), {}), IsEmpty());
}

TEST(SharedGpuNotes, NameWhoWasThereAndWhen) {
  const GpuProcess python{4711, std::int64_t{3} << 30, "python3"}, late{4712};
  EXPECT_THAT(shared_gpu_notes({}, {}), IsEmpty());
  EXPECT_THAT(shared_gpu_notes({{python}}, {{python, late}}),
              ElementsAre(testing::AllOf(HasSubstr(": 4711 (python3, 3072 MiB) from start to end, 4712 at the end. "),
                                         HasSubstr("not to be trusted"), Not(HasSubstr("pgtune's own")))));
  EXPECT_THAT(shared_gpu_notes({{late}}, {}), ElementsAre(HasSubstr(": 4712 at the start. ")));
  EXPECT_THAT(shared_gpu_notes({}, {{python, late}, true}), ElementsAre(HasSubstr("(pgtune's own is one of them")));
}

TEST(PowerNotes, TellTheShareOfTimeAtTheCap) {
  auto samples = samples_at({1500, 1500, 1500, 1500, 1500});
  EXPECT_THAT(power_notes(samples), IsEmpty());
  for (Sample& sample : samples) sample.power_cap_s = 0;
  EXPECT_THAT(power_notes(samples), IsEmpty());
  samples[1].power_cap_s = 0.075;
  EXPECT_THAT(power_notes(samples), ElementsAre(HasSubstr("75 % of the final's time")))
      << "one step of the counter is longer than a sample";
  samples[1].power_cap_s = 0.005;
  EXPECT_THAT(power_notes(samples), IsEmpty()) << "a twentieth";
}

TEST(PowerNotes, TheCounterRunsInLeadInsToo) {
  auto samples = samples_at({1500});
  samples[0].lead_in_s = 0.08;
  samples[0].power_cap_s = 0.05;
  EXPECT_THAT(power_notes(samples), ElementsAre(HasSubstr("50 % of the final's time")));
}

TEST(Notes, ReachTheAnswer) {
  TestSearch search;
  search.options.conditions.data = DataDistribution::kZeros;
  auto device = search.device();
  device.spoil = [](const protocol::RoundRequest& request, protocol::RoundReport& report) {
    for (auto& sample : report.samples) {
      sample->power_cap_s = sample->time_s;
      if (request.stage == Stage::kConfirm && request.round > 3) sample->sm_clock_hz = 1.5e9;
    }
  };
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_THAT(result->answer->notes, Contains(HasSubstr("the data are zeros")));
  EXPECT_THAT(result->answer->notes, Contains(HasSubstr("clock moved from 1500 to 1980 MHz")));
  EXPECT_THAT(result->answer->notes, Contains(HasSubstr("100 % of the final's time")));
}

/// Clocks of one group around `mhz`, `scatter_mhz` up and down in turn, with as many others at work.
void add(std::vector<ClockBeside>& clocks, int group, int busy, double mhz, int count, double scatter_mhz = 5) {
  for (int i = 0; i < count; ++i)
    clocks.push_back({group, busy, (mhz + (i % 2 == 0 ? scatter_mhz : -scatter_mhz)) * 1e6});
}

TEST(Neighbours, AClockThatFallsWithThemIsNoted) {
  std::vector<ClockBeside> clocks;
  add(clocks, 0, 3, 1470, 8);
  add(clocks, 0, 0, 1500, 8);
  const auto shift = neighbour_shift(clocks);
  ASSERT_TRUE(shift);
  EXPECT_NEAR(shift->relative, -0.02, 1e-4);
  EXPECT_THAT(neighbour_notes(clocks),
              ElementsAre(HasSubstr("2.0 % lower while 3 other GPUs of the machine worked than while none did")));
}

TEST(Neighbours, ALevelOfItsOwnHasEachGroup) {
  std::vector<ClockBeside> clocks;  // the second problem draws more power, and more GPUs were busy by then
  add(clocks, 0, 0, 1900, 10);
  add(clocks, 1, 3, 1500, 10);
  EXPECT_FALSE(neighbour_shift(clocks));
  add(clocks, 2, 1, 1700, 10);
  add(clocks, 2, 2, 1660, 10);
  const auto shift = neighbour_shift(clocks);
  ASSERT_TRUE(shift);
  EXPECT_EQ(shift->most, 3);
  EXPECT_NEAR(shift->relative, -0.069, 1e-3) << "2.35 % for each other GPU";
}

TEST(Neighbours, WhatTheyDoNotExplainIsNotTheirs) {
  std::vector<ClockBeside> clocks;
  add(clocks, 0, 0, 1500, 8);
  add(clocks, 0, 3, 1490, 8);
  EXPECT_THAT(neighbour_notes(clocks), IsEmpty()) << "less than a percent";
  clocks.clear();
  add(clocks, 0, 0, 1500, 8, 60);
  add(clocks, 0, 3, 1470, 8, 60);
  EXPECT_THAT(neighbour_notes(clocks), IsEmpty()) << "within what scatters anyway";
  clocks.clear();
  add(clocks, 0, 0, 1470, 8);
  add(clocks, 0, 3, 1500, 8);
  EXPECT_THAT(neighbour_notes(clocks), IsEmpty()) << "the other way round";
  clocks.clear();
  add(clocks, 0, 0, 1500, 4);
  add(clocks, 0, 3, 1470, 4);
  EXPECT_THAT(neighbour_notes(clocks), IsEmpty()) << "too few";
  EXPECT_THAT(neighbour_notes({}), IsEmpty());
}

}  // namespace
}  // namespace pgtune::session
