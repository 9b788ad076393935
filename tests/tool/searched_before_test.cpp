// SPDX-License-Identifier: MIT
#include "tool/pgtune/learning/trained_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pgtune::tool {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

db::SessionRow search(const char* uid, const char* problem, const char* started, const char* finished) {
  db::SessionRow row;
  row.uid = uid;
  row.problem_key = problem;
  row.device_class = "GPU";
  row.started_at = started;
  row.finished_at = finished;
  return row;
}

std::vector<std::string> taught(std::vector<db::SessionRow> searches, const char* problem, const char* device = "GPU") {
  std::vector<std::string> out;
  for (const db::SessionRow& row : searched_before(std::move(searches), problem, device)) out.push_back(row.uid);
  return out;
}

TEST(SearchedBefore, AResumedSearchLearnsFromWhatItBeganWith) {
  const std::vector<db::SessionRow> begun{search("3", "new", "12:00", ""), search("2", "b", "11:00", "11:30"),
                                          search("1", "a", "10:00", "10:30")};
  const auto at_first = taught({begun.begin() + 1, begun.end()}, "new");
  EXPECT_THAT(at_first, ElementsAre("2", "1"));
  auto later = begun;
  later.insert(later.begin(), search("5", "new", "14:00", "14:30"));
  later.insert(later.begin(), search("4", "c", "13:00", "13:30"));
  EXPECT_EQ(taught(later, "new"), at_first);
  EXPECT_THAT(taught(later, "a"), IsEmpty());
  EXPECT_THAT(taught(later, "another"), ElementsAre("4", "5", "2", "1"));
}

TEST(SearchedBefore, OneThatRanBesideItHadNotEndedThen) {
  const std::vector<db::SessionRow> searches{search("2", "new", "10:30", "10:50"), search("1", "a", "10:00", "11:00")};
  EXPECT_THAT(taught(searches, "new"), IsEmpty());
}

TEST(SearchedBefore, OnAnotherKindOfGpuASearchIsANewOne) {
  const std::vector<db::SessionRow> searches{search("2", "b", "11:00", "11:30"), search("1", "a", "10:00", "10:30")};
  EXPECT_THAT(taught(searches, "a", "another GPU"), ElementsAre("2", "1"));
}

TEST(SearchedBefore, ManyTeachInStepsByWhichTheyEnded) {
  std::vector<db::SessionRow> searches;
  for (int i = 0; i < 39; ++i) {
    const std::string number = std::to_string(100 + i);
    searches.insert(searches.begin(), search(number.c_str(), "a", number.c_str(), number.c_str()));
  }
  const auto all = taught(searches, "new");
  ASSERT_EQ(all.size(), 32U);
  EXPECT_EQ(all.front(), "131");
  searches.erase(searches.begin(), searches.begin() + 7);
  EXPECT_EQ(taught(searches, "new"), all);
  searches.erase(searches.begin());
  EXPECT_EQ(taught(searches, "new").size(), 24U);
}

}  // namespace
}  // namespace pgtune::tool
