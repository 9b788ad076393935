// SPDX-License-Identifier: MIT
#include "tool/pgtune/export/result_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/exported/sample_export.hpp"

namespace pgtune::tool::test {
namespace {

StoredResult result_of(db::RowId session, double power_limit_w, std::int64_t m = 1024) {
  StoredResult result;
  result.row.session = session;
  result.device = sample_device();
  result.device.uuid = "GPU-1";
  result.device.driver_version = "580.1";
  result.device.power_limit_w = power_limit_w;
  result.problem.m = m;
  return result;
}

std::vector<db::RowId> sessions(const std::vector<StoredResult>& results) {
  std::vector<db::RowId> out;
  for (const StoredResult& result : results) out.push_back(result.row.session);
  return out;
}

TEST(ResultChoice, AnotherBoardOrDriverIsTheSameClassAndAnotherPowerLimitIsNot) {
  StoredResult other_board = result_of(2, 700);
  other_board.device.uuid = "GPU-2";
  other_board.device.driver_version = "590.2";
  EXPECT_TRUE(same_device_class(result_of(1, 700).device, other_board.device));
  EXPECT_FALSE(same_device_class(result_of(1, 700).device, result_of(2, 500).device));
  EXPECT_THAT(sessions(best_of_each_problem({result_of(1, 700), other_board, result_of(3, 500)})),
              testing::ElementsAre(2, 3));
}

/// What a report tells of several searches of one problem; a header takes the newest.
TEST(ResultChoice, AReportTellsPresentVersionsThenWholeFinalsThenTheFastest) {
  const auto found = [](db::RowId session, double time_s, bool whole, bool other_version) {
    StoredResult result = result_of(session, 700);
    result.answer.ranking.resize(1);
    result.answer.ranking.front().time_s = time_s;
    result.answer.from_final = whole;
    if (other_version) result.other_versions.push_back({"a template", "its hash", "this build's"});
    return result;
  };
  const auto told = [&](const std::vector<StoredResult>& results) { return sessions(one_a_problem(results)); };
  using testing::ElementsAre;
  EXPECT_THAT(told({found(1, 1, true, true), found(2, 3, false, false)}), ElementsAre(2));
  EXPECT_THAT(told({found(1, 1, false, false), found(2, 3, true, false)}), ElementsAre(2));
  EXPECT_THAT(told({found(1, 3, true, false), found(2, 1, true, false), found(3, 2, true, false)}), ElementsAre(2));
  StoredResult burst = found(4, 2, true, false);
  burst.row.conditions_key = "burst";
  EXPECT_THAT(told({found(1, 3, true, false), burst}), ElementsAre(1, 4)) << "another question";
}

TEST(ResultChoice, OfClassesThatAProgramCannotTellApartTheNewestStaysWithAllItsProblems) {
  std::vector<StoredResult> results{result_of(1, 700), result_of(2, 700, 2048), result_of(3, 500),
                                    result_of(4, 500, 64)};
  results[1].row.session = 9;
  StoredResult smaller = result_of(5, 600);
  smaller.device.memory_bytes = std::int64_t{80} << 30;
  results.push_back(smaller);
  const std::vector<std::string> notes = drop_look_alikes(results);
  EXPECT_THAT(sessions(results), testing::ElementsAre(1, 9, 5));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes[0], testing::AllOf(testing::HasSubstr("140 GiB, 500 W: a program cannot tell it from"),
                                       testing::HasSubstr("700 W; --on chooses")));
}

TEST(ResultChoice, MemoryThatNobodyRecordedMayBeAny) {
  std::vector<StoredResult> results{result_of(1, 700), result_of(2, 700)};
  results[0].device.memory_bytes = 0;
  EXPECT_EQ(drop_look_alikes(results).size(), 1U);
  EXPECT_THAT(sessions(results), testing::ElementsAre(2));
}

}  // namespace
}  // namespace pgtune::tool::test
