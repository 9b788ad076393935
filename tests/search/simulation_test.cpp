// SPDX-License-Identifier: MIT
#include "tuner/search/simulation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pgtune::search {
namespace {

using testing::DoubleEq;
using testing::DoubleNear;
using testing::ElementsAre;

/// Times 2, crash, 1.5 and 3 cut, 1 in this order.
MeasuredTable table() {
  MeasuredTable out;
  for (std::int64_t a = 0; a < 5; ++a) out.variants.push_back({"line", {{"A", a}}});
  out.template_sizes = {5};
  out.costs.resize(5);
  out.observations = {{OutcomeKind::kOk, false, 2},
                      {OutcomeKind::kCrashed, false, 0},
                      {OutcomeKind::kOk, false, 1.5},
                      {OutcomeKind::kOk, true, 0.5},
                      {OutcomeKind::kOk, false, 1}};
  return out;
}

std::vector<double> losses(const MeasuredTable& table, const char* strategy, std::vector<std::size_t> budgets,
                           std::uint64_t seed = 1) {
  const auto found = simulated_search(table, table.space(), *find_strategy(strategy), seed, budgets, 0.003);
  EXPECT_TRUE(found);
  std::vector<double> out;
  for (const SimulatedLoss& own : found->losses) out.push_back(own.loss);
  return out;
}

TEST(Simulation, ATimeThatWasCutIsNobodysBest) {
  EXPECT_EQ(table().best_s(), 1);
  EXPECT_EQ(table().worst_s(), 2);
  MeasuredTable failed = table();
  for (Observation& observation : failed.observations) observation.outcome = OutcomeKind::kTimeout;
  EXPECT_EQ(failed.best_s(), std::nullopt);
}

TEST(Simulation, LossesOfTheBestFoundSoFar) {
  EXPECT_THAT(losses(table(), "exhaustive", {1, 2, 3, 4, 5, 50}),
              ElementsAre(DoubleEq(1), DoubleEq(1), DoubleEq(0.5), DoubleEq(0.5), 0, 0));
}

TEST(Simulation, WhereNothingRightWasFoundTheWorstCounts) {
  MeasuredTable reversed = table();
  std::swap(reversed.observations[0], reversed.observations[1]);
  EXPECT_THAT(losses(reversed, "exhaustive", {1}), ElementsAre(DoubleEq(1)));
}

/// Proposes the first two, and is not asked for more.
class FirstTwo final : public Strategy {
 public:
  std::optional<std::size_t> next() override {
    EXPECT_LT(next_, 2U);
    return next_ < 2 ? std::optional(next_++) : std::nullopt;
  }
  void report(std::size_t, const Observation&) override {}

 private:
  std::size_t next_ = 0;
};

TEST(Simulation, EndsWithTheLastBudget) {
  const StrategyInfo first_two{"first two", "",
                               [](const SearchSpace&, std::uint64_t) -> Result<std::unique_ptr<Strategy>> {
                                 return std::make_unique<FirstTwo>();
                               }};
  const MeasuredTable measured = table();
  EXPECT_TRUE(simulated_search(measured, measured.space(), first_two, 1, std::vector<std::size_t>{1, 2}, 0.003));
}

// One of five is the best: a random search of n of them has it with probability n/5.
TEST(Simulation, RandomFindsTheBestAsOftenAsItShould) {
  double found = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) found += losses(table(), "random", {2}, seed).front() == 0;
  EXPECT_THAT(found / 2000, DoubleNear(0.4, 0.04));
}

}  // namespace
}  // namespace pgtune::search
