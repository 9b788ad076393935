// SPDX-License-Identifier: MIT
#include "tuner/search/expected_missed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "tuner/search/simulation.hpp"

namespace pgtune::search {
namespace {

TEST(ExpectedMissed, FallsWithTheGapWithWhatIsKnownAndWithWhatWasTried) {
  const double missed = expected_missed(0.1, 0.2, 16, 1000);
  EXPECT_GT(missed, 0);
  EXPECT_LT(expected_missed(0.05, 0.2, 16, 1000), missed);
  EXPECT_LT(expected_missed(0.1, 0.1, 16, 1000), missed);
  EXPECT_LT(expected_missed(0.1, 0.2, 64, 1000), missed);
  EXPECT_LT(expected_missed(0.1, 0.2, 16, 100), missed);
  EXPECT_EQ(expected_missed(0.1, 0.2, 40, 40), 0);
  EXPECT_EQ(expected_missed(0, 0.2, 16, 1000), 0);
}

/// 200 variants whose times fall towards one, and what a model knows of them.
class ExpectedMissedOfASearch : public ::testing::Test {
 protected:
  ExpectedMissedOfASearch() {
    for (std::int64_t a = 0; a < 200; ++a) {
      table_.variants.push_back({"line", {{"A", a}}});
      const double time_s = 1 + 0.01 * static_cast<double>(std::abs(a - 120));
      table_.observations.push_back({OutcomeKind::kOk, false, time_s});
      expected_.log_times.push_back(std::log(time_s) + (a % 2 == 0 ? 0.05 : 0));
    }
    expected_.deviation = 0.04;
    table_.template_sizes = {200};
    table_.costs.resize(200);
    space_ = table_.space();
    space_.expectation = [this] { return Result<Expectation>(expected_); };
  }

  std::vector<SimulatedLoss> run(const char* strategy) {
    const std::size_t budgets[] = {2, 12, 40, 199, 250};
    return simulated_search(table_, space_, *find_strategy(strategy), 1, budgets, 0.003).value().losses;
  }

  MeasuredTable table_;
  Expectation expected_;
  SearchSpace space_;
};

TEST_F(ExpectedMissedOfASearch, ComesOnceThereIsSomethingToJudgeByAndEndsAtNothing) {
  const auto found = run("model");
  EXPECT_FALSE(found[0].expected);
  const std::size_t three[] = {3};
  EXPECT_TRUE(simulated_search(table_, space_, *find_strategy("model"), 1, three, 0.003)->losses[0].expected);
  ASSERT_TRUE(found[1].expected);
  EXPECT_GT(*found[1].expected, *found[2].expected);
  EXPECT_LT(*found[3].expected, 0.001);
}

TEST_F(ExpectedMissedOfASearch, GoesByHowFarExpectationsAreOffWhereThatIsMoreThanTheyClaim) {
  const double honest = *run("model")[1].expected;
  expected_.deviation = 1e-9;
  EXPECT_GT(*run("model")[1].expected, honest / 4);
}

TEST_F(ExpectedMissedOfASearch, EndsASearchAsSoonAsItIsLessThanTheMarginWhateverTheBudgets) {
  std::vector<std::size_t> each(200);
  std::iota(each.begin(), each.end(), std::size_t{1});
  const StrategyInfo& model = *find_strategy("model");
  for (const double margin : {0.003, 0.02}) {
    const auto found = simulated_search(table_, space_, model, 1, each, margin).value();
    const auto first = std::find_if(found.losses.begin() + 31, found.losses.end(),
                                    [&](const SimulatedLoss& own) { return own.expected && *own.expected < margin; });
    ASSERT_TRUE(found.stop && first != found.losses.end());
    EXPECT_EQ(found.stop->tried, static_cast<std::size_t>(first - found.losses.begin()) + 1);
    EXPECT_EQ(found.stop->loss, first->loss);
    const std::size_t early[] = {2};
    const auto beyond = simulated_search(table_, space_, model, 1, early, margin).value();
    EXPECT_EQ(beyond.losses.size(), 1U);
    ASSERT_TRUE(beyond.stop);
    EXPECT_EQ(beyond.stop->tried, found.stop->tried);
  }
  EXPECT_FALSE(simulated_search(table_, space_, *find_strategy("random"), 1, each, 0.02).value().stop);
}

/// The same variants, of which a preset holds every third.
class ExpectedMissedBeyondAPreset : public ExpectedMissedOfASearch {
 protected:
  static constexpr std::size_t kHeld = 67;

  ExpectedMissedBeyondAPreset() {
    for (std::size_t i = 0; i < 200; ++i) in_preset_.push_back(i % 3 == 0);
    space_.in_preset = [this] { return Result<std::vector<bool>>(in_preset_); };
  }

  struct Ended {
    std::size_t of_preset = 0, others = 0;
    std::optional<ExpectedMiss> miss;
  };
  /// A search that ends as soon as it is enough.
  Ended ended() {
    const auto strategy = make_strategy("model", space_, 1).value();
    Ended out;
    for (auto index = strategy->next(); index; index = strategy->next()) {
      ++(in_preset_[*index] ? out.of_preset : out.others);
      strategy->report(*index, table_.observations[*index]);
      out.miss = strategy->expected_miss();
      if (is_enough(out.miss, 0.003, out.of_preset + out.others)) break;
    }
    return out;
  }

  std::vector<bool> in_preset_;
};

TEST_F(ExpectedMissedBeyondAPreset, EndsASearchWhereLittleIsLeftInThePresetHoweverMuchIsOutside) {
  const Ended found = ended();
  EXPECT_LT(found.of_preset, kHeld);
  EXPECT_NEAR(static_cast<double>(found.others), static_cast<double>(found.of_preset), 10) << "in turns";
  ASSERT_TRUE(found.miss && found.miss->of_all);
  EXPECT_LT(found.miss->of_presets, 0.003);
  EXPECT_GT(*found.miss->of_all, found.miss->of_presets) << "more is left of all";
}

TEST_F(ExpectedMissedBeyondAPreset, OfATemplateThatNothingTaughtIsSaidOnceThePresetWasTried) {
  space_.expectation = {};
  const Ended found = ended();
  EXPECT_EQ(found.of_preset, kHeld);
  EXPECT_GT(found.others, 20U);
  EXPECT_LT(found.others, 133U);
  ASSERT_TRUE(found.miss);
  EXPECT_FALSE(found.miss->of_all) << "nobody knows";
}

TEST_F(ExpectedMissedOfASearch, WhereItIsNeverEnoughAllIsTried) {
  for (Observation& observation : table_.observations) observation = {OutcomeKind::kCrashed, false, 0};
  table_.observations[7] = {OutcomeKind::kOk, false, 1};
  const auto found = simulated_search(table_, space_, *find_strategy("model"), 1, {}, 0.003).value();
  ASSERT_TRUE(found.stop);
  EXPECT_EQ(found.stop->tried, 200U);
  EXPECT_EQ(found.stop->loss, 0);
}

TEST(IsEnough, WhereLessThanTheMarginIsExpectedOfWhoSaysSomethingAndTriedSome) {
  EXPECT_FALSE(is_enough(std::nullopt, 0.003, 100));
  const auto of_presets = [](double missed) { return ExpectedMiss{{}, std::log1p(missed)}; };
  EXPECT_TRUE(is_enough(of_presets(0), 0.003, 100));
  EXPECT_TRUE(is_enough(of_presets(0.0029), 0.003, 32));
  EXPECT_FALSE(is_enough(of_presets(0.0031), 0.003, 1000));
  EXPECT_FALSE(is_enough(of_presets(0), 0.003, 31));
  EXPECT_TRUE(is_enough(ExpectedMiss{0.5, 0}, 0.003, 100)) << "whatever is expected beyond presets";
}

TEST_F(ExpectedMissedOfASearch, IsNotSaidByWhoHasNoExpectations) {
  EXPECT_FALSE(run("random")[2].expected);
  space_.expectation = {};
  EXPECT_FALSE(run("model")[2].expected) << "costs do not say how far they are off";
}

}  // namespace
}  // namespace pgtune::search
