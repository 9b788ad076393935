// SPDX-License-Identifier: MIT
// Building ahead of the trials.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "test_search.hpp"

namespace pgtune::session {
namespace {

TEST(Pipeline, FillsEverySlotAndNeverMore) {
  TestSearch search;
  search.plan = plain_but([](const Variant&, Script& script) { script.build_s = 1; });
  auto device = search.device();
  device.slots = 6;
  ASSERT_TRUE(search.run(device));
  EXPECT_EQ(device.most_building, 6U);
}

TEST(Pipeline, BuildsRunAheadOfASlowGpuButNotWithoutBound) {
  TestSearch search;
  auto device = search.device();
  device.slots = 2;
  device.trial_s = 10;  // builds take no time
  ASSERT_TRUE(search.run(device));
  EXPECT_GE(device.most_ready, 4U) << "the GPU always finds work";
  EXPECT_LE(device.most_ready, 8U) << "four per slot";
}

TEST(Pipeline, SlowBuildsDoNotKeepTheGpuFromWhatIsReady) {
  TestSearch search;
  search.plan = plain_but(
      [](const Variant& variant, Script& script) { script.build_s = parameter(variant, "A") == 1 ? 100 : 0.1; });
  auto device = search.device();
  device.slots = 8;
  ASSERT_TRUE(search.run(device));
  // The five slow builds, the default's among them, come last.
  const std::vector<std::string> last(device.trials.end() - 5, device.trials.end());
  EXPECT_THAT(last, testing::Each(testing::StartsWith("A=1,")));
}

TEST(Pipeline, VariantsAreTriedInTheOrderOfTheirProposals) {
  TestSearch search;
  std::vector<std::string> order;
  {
    auto device = search.device();
    ASSERT_TRUE(search.run(device));
    order = device.trials;
  }
  TestSearch slow;
  slow.options.budget.seconds = 4;
  slow.plan = plain_but([&](const Variant& variant, Script& script) {
    // Later ones are ready first: of each eight the first takes longest.
    const auto place = std::find(order.begin(), order.end(), variant.key()) - order.begin();
    script.build_s = 0.2 * static_cast<double>(8 - place % 8);
  });
  auto device = slow.device();
  device.slots = 8;
  ASSERT_TRUE(slow.run(device));
  ASSERT_GE(device.trials.size(), 8U);
  EXPECT_EQ(std::vector<std::string>(device.trials.begin(), device.trials.begin() + 8),
            std::vector<std::string>(order.begin(), order.begin() + 8));
}

TEST(Pipeline, SpillingBuildsAreNeverLaunched) {
  TestSearch search;
  search.plan = plain_but([](const Variant& variant, Script& script) {
    if (variant.key() == kBestKey) script.spill_bytes = 8;
  });
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_THAT(device.trials, testing::Not(testing::Contains(kBestKey)));
  EXPECT_NE(result->answer->best().variant.key(), kBestKey);
  EXPECT_EQ(result->counts.compiled, kSpace) << "it was compiled all the same";
}

TEST(Pipeline, EachTrialKnowsTheBestSoFar) {
  TestSearch search;
  auto device = search.device();
  ASSERT_TRUE(search.run(device));
  EXPECT_EQ(device.incumbents_s.front(), 0);
  EXPECT_NEAR(device.incumbents_s.back(), 1e-3, 1e-4);
  for (std::size_t i = 2; i < device.incumbents_s.size(); ++i) {
    EXPECT_LE(device.incumbents_s[i], device.incumbents_s[i - 1]);
  }
}

TEST(Pipeline, OutcomesAreSavedWhenKnownNotAtTheEnd) {
  TestSearch search;
  auto device = search.device();
  std::vector<std::size_t> saved;
  device.after_trial = [&] { saved.push_back(search.store.saved_trials.size()); };
  ASSERT_TRUE(search.run(device));
  for (std::size_t i = 0; i < saved.size(); ++i) EXPECT_EQ(saved[i], i) << "all trials before this one are stored";
}

}  // namespace
}  // namespace pgtune::session
