// SPDX-License-Identifier: MIT
// What a session measures beside its rounds: the GPU's ceilings, and energy where it is wanted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "test_search.hpp"

namespace pgtune::session {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// Watts by variant, 500 for the baseline, 80 for the idle GPU.
void give_power(TestSearch& search, FakeDevice& device, double best_w, double others_w) {
  device.energy = [&search, best_w, others_w](const protocol::EnergyRequest& request) -> Result<EnergyWindow> {
    EnergyWindow window;
    window.window_s = 5;
    window.step_s = 0.1;
    window.steps = 50;
    double power_w = 80;
    if (request.contender) {
      const protocol::BuiltVariant* const built = variant_of(*request.contender);
      window.per_launch_s = built == nullptr ? 1.1e-3 : search.plan(built->variant).time_s;
      window.launches = static_cast<std::int64_t>(5 / window.per_launch_s);
      power_w = built == nullptr ? 500 : built->variant.key() == kBestKey ? best_w : others_w;
    }
    window.energy_j = power_w * window.window_s;
    window.averaged_power_w = power_w;
    return window;
  };
}

TEST(Ceilings, AreMeasuredOncePerDevice) {
  TestSearch search;
  const auto told = [&] {
    return std::count_if(search.progress.begin(), search.progress.end(),
                         [](const Progress& progress) { return progress.phase == Progress::Phase::kCeilings; });
  };
  auto first = search.device();
  ASSERT_TRUE(search.run(first));
  EXPECT_EQ(first.ceilings_measured, 1);
  EXPECT_GT(told(), 0) << "it takes seconds";
  ASSERT_TRUE(search.store.saved_ceilings);
  search.progress.clear();
  search.options.force = true;
  auto second = search.device();
  ASSERT_TRUE(search.run(second));
  EXPECT_EQ(second.ceilings_measured, 0);
  EXPECT_EQ(told(), 0);
}

TEST(Ceilings, AreNoThingForAShortBudget) {
  TestSearch search;
  search.options.budget.seconds = 5;
  auto hurried = search.device();
  ASSERT_TRUE(search.run(hurried));
  EXPECT_EQ(hurried.ceilings_measured, 0);
}

TEST(Energy, IsNotMeasuredUnasked) {
  TestSearch search;
  auto device = search.device();
  give_power(search, device, 400, 400);
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_TRUE(device.energy_requests.empty());
  EXPECT_FALSE(result->answer->baseline_energy || result->answer->idle_power_w);
}

TEST(Energy, OnRequestOfTheWinnerAndTheBaseline) {
  TestSearch search;
  search.options.measure_energy = true;
  auto device = search.device();
  give_power(search, device, 400, 400);
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  const Answer& answer = *result->answer;
  EXPECT_EQ(answer.objective, Objective::kTime);
  EXPECT_EQ(answer.idle_power_w, 80);
  ASSERT_TRUE(answer.baseline_energy);
  EXPECT_NEAR(answer.baseline_energy->energy_j, 500 * 1.1e-3, 1e-9);
  ASSERT_TRUE(answer.ranking.front().energy);
  EXPECT_NEAR(answer.ranking.front().energy->energy_j, 400 * 1e-3, 1e-9);
  EXPECT_FALSE(answer.ranking[1].energy);
  EXPECT_EQ(answer.best().variant.key(), kBestKey);
}

TEST(Energy, AsTheObjectiveItDecidesAmongTheFinalists) {
  TestSearch search;
  search.options.objective = Objective::kEnergy;
  auto device = search.device();
  give_power(search, device, 600, 450);  // 0.6 J, and 1.1 ms * 450 W = 0.495 J for the next
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  const Answer& answer = *result->answer;
  EXPECT_EQ(answer.objective, Objective::kEnergy);
  EXPECT_NE(answer.best().variant.key(), kBestKey);
  EXPECT_EQ(answer.best().variant, answer.ranking.front().variant);
  EXPECT_NEAR(answer.best().time_s, 1.1e-3, 1e-5) << "the record is the new winner's";
  EXPECT_NEAR(answer.best().ratio_to_baseline, 1.0, 2e-3);
  EXPECT_EQ(answer.ranking.size(), 8U);
  EXPECT_TRUE(answer.ranking.front().pareto);
}

TEST(Energy, TiesAreInWhatDecides) {
  for (const Objective objective : {Objective::kTime, Objective::kEnergy}) {
    TestSearch search;
    search.options.objective = objective;
    search.plan = plain_but([](const Variant&, Script& script) {
      if (script.time_s < 1.15e-3) script.time_s = 1e-3;
    });
    auto device = search.device();
    give_power(search, device, 450, 600);
    const auto result = search.run(device);
    ASSERT_TRUE(result && result->answer);
    EXPECT_EQ(result->answer->ties.empty(), objective == Objective::kEnergy);
  }
}

TEST(Energy, WhereItCannotBeMeasuredTheTimeDecides) {
  TestSearch search;
  search.options.objective = Objective::kEnergy;
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(result->answer->best().variant.key(), kBestKey);
  EXPECT_TRUE(result->answer->complete);
  EXPECT_THAT(result->answer->notes, Contains(HasSubstr("no energy counter")));
}

}  // namespace
}  // namespace pgtune::session
