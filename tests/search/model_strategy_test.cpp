// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <span>

#include "tests/search/test_space.hpp"
#include "tuner/search/in_order.hpp"
#include "tuner/search/likeness.hpp"
#include "tuner/search/strategies.hpp"

namespace pgtune::search {
namespace {

/// How many proposals come before any report.
std::size_t open_at_first(const SearchSpace& space) {
  const auto strategy = made("model", space, 1);
  std::size_t open = 0;
  while (strategy->next()) ++open;
  return open;
}

TEST(Model, WaitsForReportsWhereNothingWasLearntElsewhere) {
  TestSpace test;
  EXPECT_EQ(open_at_first(test.space), 2U);
  test.space.expectation = [&] {
    return Result<Expectation>(Expectation{std::vector<double>(test.variants.size()), 0.1});
  };
  EXPECT_EQ(open_at_first(test.space), 10U) << "eight, and one more after every fourth";
}

/// How many proposals are open before each report, in the order of the reports.
std::vector<std::size_t> most_open(const TestSpace& test) {
  const auto strategy = made("model", test.space, 1);
  std::deque<std::size_t> open;
  std::vector<std::size_t> most;
  while (true) {
    while (const auto index = strategy->next()) open.push_back(*index);
    if (open.empty()) break;
    most.push_back(open.size());
    strategy->report(open.front(), test.observe(open.front()));
    open.pop_front();
  }
  return most;
}

TEST(Model, BuildsMoreAheadTheMoreItKnows) {
  const std::vector<std::size_t> most = most_open(TestSpace());
  EXPECT_EQ(most[4], 2U);
  EXPECT_EQ(most[8], 3U);
  EXPECT_EQ(most[20], 5U);
  EXPECT_EQ(most[60], InOrder::kOpen);
}

TEST(Model, BuildsTwiceAsManyAheadWhereOtherSearchesTaughtIt) {
  TestSpace test;
  test.space.expectation = [&] {
    return Result<Expectation>(Expectation{std::vector<double>(test.variants.size()), 0.1});
  };
  EXPECT_EQ(most_open(test)[60], 16U);
}

TEST(Model, TriesEachTemplateHoweverLittleIsExpectedOfIt) {
  TestSpace test;
  const std::size_t grid = test.space.template_sizes[0];
  std::vector<double> expected(test.variants.size());
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<double>(i);  // the second template last
  test.space.expectation = [&] { return Result<Expectation>(Expectation{expected, 0.1}); };
  const auto strategy = made("model", test.space, 1);
  EXPECT_EQ(strategy->next(), 0U);
  EXPECT_EQ(strategy->next(), grid) << "the best of the second template";
  EXPECT_EQ(strategy->next(), 1U);
}

TEST(Model, TriesDefaultsFirstOfTemplatesThatNothingTaughtIt) {
  TestSpace test;
  const std::size_t grid = test.space.template_sizes[0];
  std::vector<double> expected(test.variants.size());
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<double>(i);
  test.space.expectation = [&] { return Result<Expectation>(Expectation{expected, 0.1, false}); };
  const auto strategy = made("model", test.space, 1);
  EXPECT_EQ(strategy->next(), 3U);
  EXPECT_EQ(strategy->next(), grid + 1);
  EXPECT_EQ(strategy->next(), 0U) << "then as it is expected";
  EXPECT_EQ(strategy->next(), grid);
}

TEST(Model, BeginsWithTheLeastCostOfEachTemplate) {
  TestSpace test;
  const std::size_t grid = test.space.template_sizes[0];
  std::vector<std::optional<double>> costs(test.variants.size());
  for (std::size_t i = 0; i < costs.size(); ++i)
    costs[i] = i < grid ? 1e3 + static_cast<double>(i) : 1e4 - 10 * static_cast<double>(i);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const auto strategy = made("model",
                               {test.variants,
                                test.space.template_sizes,
                                {},
                                [&] { return Result<std::vector<std::optional<double>>>(costs); }},
                               seed);
    const std::size_t first = strategy->next().value(), second = strategy->next().value();
    EXPECT_EQ(std::min(first, second), 0U);
    EXPECT_EQ(std::max(first, second), grid + 9);
  }
}

/// In the test's space, where time is expected to rise with the place, presets hold the last few of each template.
struct PresetsOfTheLast {
  static constexpr std::size_t kHeld = 8;
  TestSpace test;
  std::vector<bool> in_preset;

  PresetsOfTheLast() {
    std::vector<double> expected;
    for (const std::size_t size : test.space.template_sizes) {
      for (std::size_t i = 0; i < size; ++i) in_preset.push_back(i + kHeld >= size);
    }
    for (std::size_t i = 0; i < in_preset.size(); ++i) expected.push_back(0.001 * static_cast<double>(i));
    test.space.expectation = [expected] { return Result<Expectation>(Expectation{expected, 0.1}); };
    test.space.in_preset = [this] { return Result<std::vector<bool>>(in_preset); };
  }
};

TEST(Model, GivesFirstTurnsAndThenEverySecondToWhatPresetsHoldHoweverLittleIsExpectedOfIt) {
  const PresetsOfTheLast presets;
  const std::size_t grid = presets.test.space.template_sizes[0];
  const auto strategy = made("model", presets.test.space, 1);
  std::vector<std::size_t> first;
  for (int i = 0; i < 10; ++i) first.push_back(*strategy->next());
  const std::size_t of_grid = grid - presets.kHeld, of_line = grid + 10 - presets.kHeld;
  EXPECT_EQ(first, (std::vector<std::size_t>{of_grid, of_line, of_grid + 1, of_grid + 2, of_grid + 3, of_grid + 4,
                                             of_grid + 5, of_grid + 6, of_grid + 7, 0}))
      << "of the presets each template's best comes first";
}

TEST(Model, DoesNotBeginWithATemplateWhosePresetHoldsNothingHere) {
  PresetsOfTheLast presets;
  const std::size_t grid = presets.test.space.template_sizes[0];
  std::fill(presets.in_preset.begin() + static_cast<std::ptrdiff_t>(grid), presets.in_preset.end(), false);
  const auto strategy = made("model", presets.test.space, 1);
  for (std::size_t i = 0; i < presets.kHeld; ++i) EXPECT_EQ(strategy->next(), grid - presets.kHeld + i);
  EXPECT_EQ(strategy->next(), 0U) << "then whatever is expected to be fastest";
}

TEST(Model, TriesAllOfASpaceBeyondPresets) {
  const PresetsOfTheLast presets;
  const auto strategy = made("model", presets.test.space, 1);
  std::vector<std::size_t> tried;
  for (auto index = strategy->next(); index; index = strategy->next()) {
    tried.push_back(*index);
    strategy->report(*index, presets.test.observe(*index));
  }
  std::size_t of_presets = 0;
  for (std::size_t i = 0; i < 12; ++i) of_presets += presets.in_preset[tried[i]] ? 1 : 0;
  EXPECT_EQ(of_presets, 10U);
  std::sort(tried.begin(), tried.end());
  for (std::size_t i = 0; i < presets.in_preset.size(); ++i) ASSERT_EQ(tried.at(i), i);
  EXPECT_EQ(tried.size(), presets.in_preset.size());
}

TEST(Model, SaysWhyItIsNotKnownWhatPresetsHold) {
  PresetsOfTheLast presets;
  presets.test.space.in_preset = []() -> Result<std::vector<bool>> { return fail(ErrorKind::kUsage, "no such name"); };
  const auto strategy = make_strategy("model", presets.test.space, 1);
  ASSERT_FALSE(strategy);
  EXPECT_EQ(strategy.error().message, "no such name");
}

/// Two steps from the nearest that is known are 2, 6 and 10, but 10 alone has nothing known on its other side.
TEST(Model, ExpectsMostOfThatOfWhichTheLeastIsKnown) {
  std::vector<Variant> line;
  for (std::int64_t a = 0; a <= 10; ++a) line.push_back({"line", {{"A", a}}});
  const TestSpace test;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto strategy = made("model", {line, {line.size()}, {0, 4, 8}, test.space.costs}, seed);
    for (const std::size_t place : {0U, 4U, 8U, 10U}) {
      EXPECT_EQ(strategy->next(), place);
      strategy->report(place, {OutcomeKind::kOk, false, 1});
    }
  }
}

TEST(Model, BeginsFarApartWhereNothingIsExpected) {
  TestSpace test;
  const std::size_t grid = test.space.template_sizes[0];
  const SearchSpace space{std::span(test.variants).first(grid), {grid}, {}, test.space.costs};
  const Likeness likeness(space);
  const auto apart = [&](const std::string& name) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto strategy = made(name, space, seed);
      const std::size_t first = *strategy->next();
      sum += likeness.distance(first, *strategy->next()) / 20;
    }
    return sum;
  };
  EXPECT_GT(apart("model"), 0.8);
  EXPECT_LT(apart("random"), 0.65);
}

}  // namespace
}  // namespace pgtune::search
