// SPDX-License-Identifier: MIT
// Searches by other strategies than the default.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "test_search.hpp"

namespace pgtune::session {
namespace {

class ByStrategy : public testing::TestWithParam<const char*> {};

/// The variants tried, in any order: which of those that are built ahead is ready first is the builds' affair.
std::vector<std::string> sorted(std::vector<std::string> keys) {
  std::sort(keys.begin(), keys.end());
  return keys;
}

TEST_P(ByStrategy, AResumedSearchTriesWhatTheUninterruptedOneTried) {
  TestSearch straight, search;
  straight.options.strategy = search.options.strategy = GetParam();
  straight.options.budget.trials = search.options.budget.trials = 25;
  auto whole = straight.device();
  const auto expected = straight.run(whole);
  ASSERT_TRUE(expected && expected->answer);
  EXPECT_EQ(expected->answer->strategy, GetParam());

  auto first = search.device();
  first.slots = 2;
  first.after_trial = [&] { search.stop = first.trials.size() == 13; };
  ASSERT_TRUE(search.run(first));
  search.stop = false;
  auto second = search.device();
  ASSERT_TRUE(search.run(second));
  std::vector<std::string> tried = first.trials;
  tried.insert(tried.end(), second.trials.begin(), second.trials.end());
  EXPECT_EQ(sorted(tried), sorted(whole.trials));
}

// Nothing is in flight when the last of the builds that are ready is left out, and the strategy has waited for it.
TEST_P(ByStrategy, GoesOnAfterEverythingThatWasReadyIsQuarantined) {
  TestSearch search;
  search.options.strategy = GetParam();
  search.plan = [](const Variant& variant) {
    Script script = plain_script(variant);
    script.cubin = "the same";
    script.trial = {OutcomeKind::kCrashed, "illegal address"};
    return script;
  };
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(search.store.saved_trials.size(), static_cast<std::size_t>(kSpace));
}

INSTANTIATE_TEST_SUITE_P(ByName, ByStrategy,
                         testing::Values("guided", "model", "random", "local", "annealing", "genetic", "exhaustive"),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace pgtune::session
