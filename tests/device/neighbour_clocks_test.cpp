// SPDX-License-Identifier: MIT
#include "tuner/device/neighbour_clocks.hpp"

#include <gtest/gtest.h>

namespace pgtune::device {
namespace {

protocol::RoundRequest round_of(Stage stage, std::vector<protocol::BuiltContender> contenders) {
  protocol::RoundRequest request;
  request.stage = stage;
  request.contenders = std::move(contenders);
  return request;
}

protocol::RoundReport report_of(const std::vector<double>& clocks_hz) {
  protocol::RoundReport report;
  for (const double clock_hz : clocks_hz) {
    Sample sample;
    sample.sm_clock_hz = clock_hz;
    report.samples.emplace_back(sample);
  }
  report.outcomes.resize(clocks_hz.size());
  return report;
}

TEST(NeighbourClocks, KeepsTheBaselinesClocksByProblemStageAndAlgorithm) {
  const auto at_work = std::make_shared<GpusAtWork>(3);
  NeighbourClocks clocks(at_work);
  const protocol::BuiltContender variant = protocol::BuiltVariant{};
  const auto final = round_of(Stage::kFinal, {variant, BaselineAlgorithm{0}, BaselineAlgorithm{2}});
  clocks.take(clocks.busy(), final, report_of({1, 1.5e9, 1.6e9}));
  *at_work = 1;
  clocks.take(clocks.busy(), final, report_of({1, 1.7e9, 0}));  // the second clock was not measured
  clocks.take(clocks.busy(), round_of(Stage::kRace, {BaselineAlgorithm{0}}), report_of({1.8e9}));
  clocks.next_problem();
  clocks.take(clocks.busy(), final, report_of({1, 1.9e9, 1.9e9}));
  std::vector<std::vector<double>> found;
  for (const ClockBeside& sample : clocks.clocks())
    found.push_back({static_cast<double>(sample.group), static_cast<double>(sample.busy), sample.sm_clock_hz});
  EXPECT_EQ(found, (std::vector<std::vector<double>>{
                       {0, 2, 1.5e9}, {1, 2, 1.6e9}, {0, 0, 1.7e9}, {2, 0, 1.8e9}, {3, 0, 1.9e9}, {4, 0, 1.9e9}}));
}

TEST(NeighbourClocks, ARoundInWhichAnotherGpuBeganOrEndedSaysNothing) {
  const auto at_work = std::make_shared<GpusAtWork>(1);
  NeighbourClocks clocks(at_work);
  const int before = clocks.busy();
  *at_work = 2;
  clocks.take(before, round_of(Stage::kFinal, {BaselineAlgorithm{0}}), report_of({1.5e9}));
  EXPECT_TRUE(clocks.clocks().empty());
}

TEST(NeighbourClocks, AGpuAloneKeepsNothing) {
  NeighbourClocks clocks(nullptr);
  clocks.take(clocks.busy(), round_of(Stage::kFinal, {BaselineAlgorithm{0}}), report_of({1.5e9}));
  EXPECT_TRUE(clocks.clocks().empty());
}

}  // namespace
}  // namespace pgtune::device
