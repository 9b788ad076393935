// SPDX-License-Identifier: MIT
// Searches that end once they expect to have missed little.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "test_search.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/search/simulation.hpp"
#include "tuner/session/answer/answered.hpp"
#include "tuner/session/expected_times.hpp"
#include "tuner/space/enumerate.hpp"

namespace pgtune::session {
namespace {

/// Five problems on which the variants were as fast as on the test's.
std::shared_ptr<const search::Predictor> trained(const TestSearch& search, const DeviceInfo& device) {
  const auto variants =
      space::legal_variants(space::TemplateSet(search.definition), search.problem, device).value().variants;
  search::Experience known{described(search.definition, search.problem, device, variants).value(),
                           {},
                           "",
                           device_class(device).hardware(),
                           search.definition.name,
                           0};
  for (const Variant& variant : variants) known.log_times.push_back(std::log(search.plan(variant).time_s / 1e-3));
  std::vector<search::Experience> all(5, known);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].problem = std::to_string(i);
    all[i].table = i;
  }
  return std::make_shared<const search::Predictor>(search::PredictorTrainer(all).fit_all(1));
}

TEST(Enough, ASearchEndsWhereLittleIsExpectedToBeMissedAndItsFinalRuns) {
  TestSearch search;
  search.options.strategy = "model";
  search.options.budget.acceptable_miss = 0;
  auto device = search.device();
  search.options.predictor = [known = trained(search, device.info())](const Problem&, const DeviceInfo&) {
    return known;
  };
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_TRUE(result->enough);
  EXPECT_FALSE(result->budget_reached);
  EXPECT_LT(device.trials.size(), static_cast<std::size_t>(kSpace));
  const Answer& answer = *result->answer;
  EXPECT_TRUE(answer.from_final);
  EXPECT_FALSE(answer.complete);
  EXPECT_EQ(answer.best().variant.key(), kBestKey);
  ASSERT_TRUE(answer.expected_missed);
  EXPECT_LT(*answer.expected_missed, answer.floor.margin);
  for (const Progress& update : search.progress) {
    if (update.phase != Progress::Phase::kSearch) continue;
    EXPECT_FALSE(update.remaining_s) << "nobody knows when it ends";
  }

  auto again = search.device();
  EXPECT_TRUE(search.run(again)->from_store) << "the same wish is answered";
  search.options.budget.acceptable_miss.reset();
  auto rest = search.device();
  const auto whole = search.run(rest);
  EXPECT_FALSE(whole->from_store);
  EXPECT_EQ(device.trials.size() + rest.trials.size(), static_cast<std::size_t>(kSpace));
  EXPECT_EQ(whole->answer->expected_missed, 0);
}

TEST(Enough, ASimulatedSearchEndsWhereTheSessionDoes) {
  TestSearch search;
  search.options.strategy = "model";
  search.options.budget.acceptable_miss = 0;
  auto device = search.device();
  device.noise = 0;
  const auto predictor = trained(search, device.info());
  search.options.predictor = [predictor](const Problem&, const DeviceInfo&) { return predictor; };
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer && result->enough);

  const space::TemplateSet templates(search.definition);
  search::MeasuredTable table;
  table.variants = space::legal_variants(templates, search.problem, device.info()).value().variants;
  table.template_sizes = {table.variants.size()};
  table.costs.resize(table.variants.size());
  for (const Variant& variant : table.variants)
    table.observations.push_back({OutcomeKind::kOk, false, search.plan(variant).time_s});
  search::SearchSpace space = table.space();
  space.expectation = [&] {
    return expected_times(*predictor, templates, search.problem, device.info(), table.variants);
  };
  const auto simulated = search::simulated_search(table, space, *search::find_strategy("model"), search.options.seed,
                                                  {}, result->answer->floor.margin);
  ASSERT_TRUE(simulated && simulated->stop);
  EXPECT_EQ(simulated->stop->tried, device.trials.size());
}

TEST(Enough, IsTheMarginOfTiesOrWhatIsAcceptable) {
  Answer answer;
  answer.from_final = true;
  answer.counts.measured = 40;
  answer.floor.margin = 0.005;
  answer.expected_missed_of_presets = 0.008;
  EXPECT_FALSE(has_enough(answer));
  EXPECT_FALSE(has_enough(answer, 0.007));
  EXPECT_TRUE(has_enough(answer, 0.009));
  answer.floor.margin = 0.01;
  EXPECT_TRUE(has_enough(answer, 0.007));
}

TEST(Enough, MoreIsAcceptableOnRequest) {
  const auto tried = [](double acceptable_miss) {
    TestSearch search;
    auto& values = search.definition.parameters.front().values;
    while (values.size() < 100) values.push_back(static_cast<std::int64_t>(values.size() + 1));
    search.options.strategy = "model";
    search.options.budget.acceptable_miss = acceptable_miss;
    auto device = search.device();
    search.options.predictor = [known = trained(search, device.info())](const Problem&, const DeviceInfo&) {
      return known;
    };
    EXPECT_TRUE(search.run(device));
    return device.trials.size();
  };
  EXPECT_LT(tried(1), tried(0));
}

TEST(Enough, AStrategyThatExpectsNothingGoesOn) {
  TestSearch search;
  search.options.strategy = "random";
  search.options.budget.acceptable_miss = 0;
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_FALSE(result->enough);
  EXPECT_EQ(device.trials.size(), static_cast<std::size_t>(kSpace));
  EXPECT_FALSE(result->answer->expected_missed);
}

}  // namespace
}  // namespace pgtune::session
