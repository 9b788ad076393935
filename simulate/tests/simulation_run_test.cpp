// SPDX-License-Identifier: MIT
#include "simulate/program/simulation_run.hpp"

#include <gmock/gmock.h>

#include "tests/tool/store_fixture.hpp"

namespace pgtune::tool {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(Simulate, ABudgetCountsForTablesWithTwiceAsManyVariants) {
  RecordedTable table;
  for (std::int64_t i = 0; i < 10; ++i) {
    table.table.variants.push_back(test::variant(i));
    table.table.observations.push_back({OutcomeKind::kOk, false, static_cast<double>(10 - i)});
  }
  table.table.template_sizes = {10};
  table.table.costs.resize(10);
  SimulationTask task{{"exhaustive"}, {5, 6}, 3, 1};
  const auto losses = simulate({table, table}, task);
  ASSERT_THAT(losses, SizeIs(2));
  EXPECT_THAT(losses[1].losses[0], ElementsAre(5, 5, 5));  // the fifth takes 6, the best 1
  EXPECT_THAT(losses[1].losses[1], SizeIs(0));
  EXPECT_EQ(summary(losses, 0, 0).tables, 2U);
  EXPECT_EQ(summary(losses, 0, 0).median, 5);
  EXPECT_EQ(summary(losses, 0, 1).tables, 0U);
}

}  // namespace
}  // namespace pgtune::tool
