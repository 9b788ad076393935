// SPDX-License-Identifier: MIT
#include "tuner/search/expected_missed.hpp"

#include <gtest/gtest.h>

#include <cmath>

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
    return simulated_losses(table_, space_, *find_strategy(strategy), 1, budgets).value();
  }

  MeasuredTable table_;
  Expectation expected_;
  SearchSpace space_;
};

TEST_F(ExpectedMissedOfASearch, ComesOnceThereIsSomethingToJudgeByAndEndsAtNothing) {
  const auto found = run("model");
  EXPECT_FALSE(found[0].expected);
  ASSERT_TRUE(found[1].expected);
  EXPECT_GT(*found[1].expected, *found[2].expected);
  EXPECT_LT(*found[3].expected, 0.001);
}

TEST_F(ExpectedMissedOfASearch, GoesByHowFarExpectationsAreOffWhereThatIsMoreThanTheyClaim) {
  const double honest = *run("model")[1].expected;
  expected_.deviation = 1e-9;
  EXPECT_GT(*run("model")[1].expected, honest / 4);
}

TEST_F(ExpectedMissedOfASearch, IsNotSaidByWhoHasNoExpectations) {
  EXPECT_FALSE(run("random")[2].expected);
  space_.expectation = {};
  EXPECT_FALSE(run("model")[2].expected) << "costs do not say how far they are off";
}

}  // namespace
}  // namespace pgtune::search
