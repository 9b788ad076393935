// SPDX-License-Identifier: MIT
// Searches by other strategies than the default.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "test_search.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/session/expected_times.hpp"
#include "tuner/space/enumerate.hpp"

namespace pgtune::session {
namespace {

class ByStrategy : public testing::TestWithParam<const char*> {};

/// The variants tried, in any order: which of those that are built ahead is ready first is the builds' affair.
std::vector<std::string> sorted(std::vector<std::string> keys) {
  std::sort(keys.begin(), keys.end());
  return keys;
}

/// Stopped after 13 trials and resumed, the search tries what `whole` has.
void expect_resumed(TestSearch& search, const FakeDevice& whole, std::size_t slots) {
  auto first = search.device();
  first.slots = slots;
  first.after_trial = [&] { search.stop = first.trials.size() == 13; };
  ASSERT_TRUE(search.run(first));
  search.stop = false;
  auto second = search.device();
  ASSERT_TRUE(search.run(second));
  std::vector<std::string> tried = first.trials;
  tried.insert(tried.end(), second.trials.begin(), second.trials.end());
  EXPECT_EQ(sorted(tried), sorted(whole.trials));
}

TEST_P(ByStrategy, AResumedSearchTriesWhatTheUninterruptedOneTried) {
  TestSearch straight, search;
  straight.options.strategy = search.options.strategy = GetParam();
  straight.options.budget.trials = search.options.budget.trials = 25;
  auto whole = straight.device();
  const auto expected = straight.run(whole);
  ASSERT_TRUE(expected && expected->answer);
  EXPECT_EQ(expected->answer->strategy, GetParam());
  expect_resumed(search, whole, 2);
}

// Nothing is in flight when the last of the builds that are ready is left out, and the strategy has waited for it.
TEST_P(ByStrategy, GoesOnAfterEverythingThatWasReadyIsQuarantined) {
  TestSearch search;
  search.options.strategy = GetParam();
  search.plan = plain_but([](const Variant&, Script& script) {
    script.cubin = "the same";
    script.trial = {OutcomeKind::kCrashed, "illegal address"};
  });
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(search.store.saved_trials.size(), static_cast<std::size_t>(kSpace));
}

/// A model that another problem taught, where the times were those of `search`.
PredictorSource taught(const TestSearch& search, const DeviceInfo& device) {
  const auto variants =
      space::legal_variants(space::TemplateSet(search.definition), search.problem, device).value().variants;
  search::Experience known{described(search.definition, search.problem, device, variants).value(),
                           {},
                           "another problem",
                           device_class(device).hardware(),
                           search.definition.name,
                           0};
  for (const Variant& variant : variants) known.log_times.push_back(std::log(search.plan(variant).time_s / 1e-3));
  auto predictor = std::make_shared<const search::Predictor>(search::PredictorTrainer({known}).fit_all(1));
  return [predictor](const Problem&, const DeviceInfo&) { return predictor; };
}

TEST(TaughtModel, AResumedSearchTriesWhatTheUninterruptedOneTried) {
  TestSearch straight, search;
  const DeviceInfo gpu = straight.device().info();
  for (TestSearch* const own : {&straight, &search}) {
    own->options.strategy = "model";
    own->options.predictor = taught(*own, gpu);
    own->options.budget.trials = 25;
    // What was expected is not what is found: the order follows from reports, too.
    own->plan = plain_but([](const Variant& variant, Script& script) {
      script.time_s = 1e-3 * (1 + 0.1 * static_cast<double>(parameter(variant, "A") * parameter(variant, "B") % 7));
    });
  }
  auto whole = straight.device();
  ASSERT_TRUE(straight.run(whole));
  ASSERT_EQ(whole.trials.size(), 25U);
  TestSearch untaught;
  untaught.options.strategy = "model";
  untaught.options.budget.trials = 25;
  untaught.plan = straight.plan;
  auto other = untaught.device();
  ASSERT_TRUE(untaught.run(other));
  EXPECT_NE(sorted(other.trials), sorted(whole.trials)) << "what was taught decides something";
  expect_resumed(search, whole, whole.slots);
}

TEST(TaughtModel, OfTheWholeGridBeginsWithThePreset) {
  TestSearch search;
  search.options.strategy = "model";
  search.options.budget.trials = 1;
  // The slowest that there are: nothing but the preset speaks for them.
  search.definition.preset = {{space::Expression::parse("A == 1 && B == 1").value(), "an opinion"}};
  search.definition.whole_grid = true;
  auto device = search.device();
  search.options.predictor = taught(search, device.info());
  ASSERT_TRUE(search.run(device));
  EXPECT_EQ(device.trials, std::vector<std::string>{"A=1,B=1"});
}

INSTANTIATE_TEST_SUITE_P(ByName, ByStrategy, testing::Values("guided", "model", "random", "exhaustive"),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace pgtune::session
