// SPDX-License-Identifier: MIT
// One problem screened on two boards at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <thread>

#include "test_search.hpp"
#include "tuner/session/pipeline/split_screen.hpp"

namespace pgtune::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Share = SplitScreen::Share;

/// Counts up, and keeps what it was told.
class Counting final : public search::Strategy {
 public:
  std::optional<std::size_t> next() override { return next_ < 6 ? std::optional(next_++) : std::nullopt; }
  void report(std::size_t index, const search::Observation& observation) override {
    reports.emplace_back(index, observation.time_s);
  }
  std::vector<std::pair<std::size_t, double>> reports;

 private:
  std::size_t next_ = 0;
};

search::Observation right(double time_s) { return {OutcomeKind::kOk, false, time_s}; }
const auto kDoNotWait = [] { return true; };

TEST(SplitScreen, NoVariantIsProposedTwiceAndTimesAreAtTheLeadersSpeed) {
  Counting strategy;
  SplitScreen screen;
  screen.open(strategy, 2.0, std::nullopt);
  Share leader(screen, 2.0, true), helper(screen, 4.0, false);  // the helper's board is half as fast
  EXPECT_EQ(leader.next(), 0U);
  EXPECT_EQ(helper.next(), 1U);
  EXPECT_EQ(helper.next(), 2U);
  helper.report(2, right(6));
  helper.report(1, right(8));
  leader.report(0, right(5));
  EXPECT_THAT(strategy.reports, ElementsAre(testing::Pair(2, 3), testing::Pair(1, 4), testing::Pair(0, 5)));
  const auto help = screen.close(kDoNotWait);
  EXPECT_EQ(help.boards, 1U);
  EXPECT_EQ(help.screened, 2);
  ASSERT_EQ(help.found.size(), 2U);
  EXPECT_EQ(help.found[0].index, 2U) << "fastest first, and not the leader's own";
  EXPECT_DOUBLE_EQ(help.found[0].time_s, 3);
}

TEST(SplitScreen, WhatABoardDoesNotReportGoesToAnother) {
  Counting strategy;
  SplitScreen screen;
  screen.open(strategy, 1, std::nullopt);
  Share leader(screen, 1, true);
  {
    Share helper(screen, 1, false);
    EXPECT_EQ(helper.next(), 0U);
    for (std::size_t i = 1; i < 6; ++i) {
      EXPECT_EQ(leader.next(), i);
      leader.report(i, right(1));
    }
    EXPECT_FALSE(leader.next());
    EXPECT_TRUE(leader.waits()) << "the helper may fail yet";
  }
  EXPECT_TRUE(leader.waits());
  EXPECT_EQ(leader.next(), 0U);
  EXPECT_FALSE(leader.waits()) << "only its own is open";
}

TEST(SplitScreen, WhatCrashesOnAHelperIsTheLeadersToTry) {
  Counting strategy;
  SplitScreen screen;
  screen.open(strategy, 1, std::nullopt);
  Share leader(screen, 1, true), helper(screen, 1, false), other(screen, 1, false);
  EXPECT_EQ(helper.next(), 0U);
  helper.report(0, {OutcomeKind::kCrashed, false, 0});
  EXPECT_EQ(other.next(), 1U) << "no other helper's";
  other.report(1, {OutcomeKind::kWrongResult, false, 0});
  EXPECT_THAT(strategy.reports, ElementsAre(testing::Pair(1, 0))) << "a wrong result is wrong everywhere";
  EXPECT_TRUE(leader.waits());
  EXPECT_EQ(leader.next(), 0U);
  leader.report(0, right(1));
  EXPECT_EQ(strategy.reports.size(), 2U);
  EXPECT_FALSE(leader.waits());
}

TEST(SplitScreen, ABudgetOfVariantsIsSharedAndSaysWhetherItEndedTheSearch) {
  const auto ends_by_budget = [](std::int64_t trials) {
    Counting strategy;
    SplitScreen screen;
    screen.open(strategy, 1, trials);
    Share leader(screen, 1, true), helper(screen, 1, false);
    std::int64_t proposed = 0;
    while (leader.next()) {
      ++proposed;
      if (helper.next()) ++proposed;
    }
    EXPECT_EQ(proposed, std::min<std::int64_t>(trials, 6));
    return screen.budget_spent();
  };
  EXPECT_TRUE(ends_by_budget(4));
  EXPECT_TRUE(ends_by_budget(5));
  EXPECT_FALSE(ends_by_budget(6));
  EXPECT_FALSE(ends_by_budget(7));
}

TEST(SplitScreen, WhoComesTooLateHasNothingToDo) {
  Counting strategy;
  SplitScreen screen;
  EXPECT_FALSE(screen.await(kDoNotWait)) << "not open yet";
  screen.open(strategy, 1, std::nullopt);
  EXPECT_TRUE(screen.await(kDoNotWait));
  Share late(screen, 1, false);
  EXPECT_EQ(late.next(), 0U);
  (void)screen.close(kDoNotWait);
  late.report(0, right(1));
  EXPECT_TRUE(strategy.reports.empty()) << "whose strategy may be gone";
  EXPECT_FALSE(late.next());
  EXPECT_FALSE(late.waits());
  EXPECT_FALSE(screen.await(kDoNotWait));
}

TEST(SplitScreen, ALeaderWaitsForItsHelpersToEnd) {
  Counting strategy;
  SplitScreen screen;
  screen.open(strategy, 1, std::nullopt);
  auto helper = std::make_unique<Share>(screen, 1, false);
  ASSERT_EQ(helper->next(), 0U);
  std::thread thread([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    helper->report(0, right(1));
    helper.reset();
  });
  EXPECT_EQ(screen.close([] { return false; }).screened, 1);
  thread.join();
}

/// At most ten seconds, of which a test that passes takes none.
void wait_for(const std::atomic<bool>& flag) {
  for (int i = 0; i < 2000 && !flag; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

/// A search on one board that another helps with, each with a thread, a store and a virtual time of its own.
struct SplitSearch {
  TestSearch lead, help;
  FakeDevice first = lead.device(), second = help.device();
  Result<SearchResult> result = fail(ErrorKind::kInternal, "not run");
  Result<void> helped;

  void run() {
    SplitScreen split;
    std::thread thread([&] {
      helped = help_search(
          help.problem, help.definition, second, help.store, help.options, split, help.stop, [](const Progress&) {},
          help.clock(second));
    });
    result = run_search(
        lead.problem, lead.definition, first, lead.store, lead.options, lead.stop, [](const Progress&) {},
        lead.clock(first), &split);
    (void)split.close([] { return true; });
    thread.join();
  }
  /// The leader tries its second variant only when the helper has tried some.
  void both_take_part() {
    second.after_trial = [this] { tried_some_ = second.trials.size() >= 3; };
    first.after_trial = [this] { wait_for(tried_some_); };
  }

 private:
  std::atomic<bool> tried_some_{false};
};

std::string notes_of(const SearchResult& result) {
  std::string all;
  for (const std::string& note : result.answer->notes) all += note + "\n";
  return all;
}

TEST(SplitSearch, TwoBoardsTryEveryVariantBetweenThemAndFindTheBest) {
  SplitSearch search;
  search.both_take_part();
  search.run();
  ASSERT_TRUE(search.helped) << search.helped.error().text();
  ASSERT_TRUE(search.result && search.result->answer);
  const Answer& answer = *search.result->answer;
  EXPECT_EQ(answer.best().variant.key(), kBestKey);
  EXPECT_TRUE(answer.complete);
  EXPECT_THAT(notes_of(*search.result), HasSubstr("more variants were screened on 1 other GPU of this class"));

  const std::vector<std::string>&mine = search.first.trials, &others = search.second.trials;
  EXPECT_GE(others.size(), 3U);
  std::set<std::string> all(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), mine.size()) << "none twice on one board";
  all.insert(others.begin(), others.end());
  EXPECT_EQ(all.size(), static_cast<std::size_t>(kSpace));
  EXPECT_EQ(search.help.store.saved_trials.size(), others.size()) << "stored as the helper's own";
  EXPECT_TRUE(search.help.store.finished.empty()) << "a helper has no answer";
  EXPECT_TRUE(search.second.rounds.empty()) << "nor races and finals";
}

TEST(SplitSearch, WhatOnlyTheHelperScreenedIsScreenedAgainWhereItRacesAndWins) {
  SplitSearch search;
  search.lead.options.strategy = "exhaustive";
  search.first.slots = search.second.slots = 1;
  // Each has its first few in hand, far from the best, before the helper goes on to it and the leader to anything.
  std::atomic<bool> leader_began{false}, found{false};
  search.second.after_trial = [&] {
    wait_for(leader_began);
    if (search.second.trials.back() == kBestKey) found = true;
  };
  search.first.after_trial = [&] {
    leader_began = true;
    wait_for(found);
  };
  search.run();
  ASSERT_TRUE(search.result && search.result->answer);
  EXPECT_TRUE(search.helped) << search.helped.error().text();
  EXPECT_TRUE(found) << search.first.trials.size() << " and " << search.second.trials.size();
  EXPECT_EQ(search.result->answer->best().variant.key(), kBestKey);
  EXPECT_THAT(search.first.trials, testing::Contains(kBestKey));
  EXPECT_LT(search.first.trials.size(), static_cast<std::size_t>(kSpace)) << "but not what is far from the best";
}

TEST(SplitSearch, NobodyHelpsBeforeTheLeaderHasItsFloor) {
  SplitSearch search;
  search.both_take_part();
  std::atomic<bool> helps{false};
  const auto tried = search.second.after_trial;
  search.second.after_trial = [&, tried] {
    helps = true;
    tried();
  };
  search.first.after_round = [&](Stage stage) {
    const bool before_screening = stage == Stage::kSteady || stage == Stage::kFloor;
    EXPECT_FALSE(before_screening && helps);
  };
  search.run();
  ASSERT_TRUE(search.result && search.result->answer);
  EXPECT_TRUE(helps);
}

TEST(SplitSearch, ABudgetIsOfAllBoardsTogether) {
  SplitSearch search;
  search.lead.options.budget.trials = search.help.options.budget.trials = 20;
  search.both_take_part();
  search.run();
  ASSERT_TRUE(search.result && search.result->answer);
  std::set<std::string> all(search.first.trials.begin(), search.first.trials.end());
  all.insert(search.second.trials.begin(), search.second.trials.end());
  EXPECT_EQ(all.size(), 20U);
  EXPECT_TRUE(search.result->budget_reached);
  EXPECT_FALSE(search.result->answer->complete);
}

TEST(SplitSearch, AHelperThatDiesCostsNothingButItsHelp) {
  SplitSearch search;
  search.both_take_part();
  search.second.dies_after_trials = 3;
  search.run();
  EXPECT_FALSE(search.helped);
  ASSERT_TRUE(search.result && search.result->answer);
  EXPECT_EQ(search.result->answer->best().variant.key(), kBestKey);
  std::set<std::string> all(search.first.trials.begin(), search.first.trials.end());
  for (const std::string& key : search.help.store.saved_trials) all.insert(key);
  EXPECT_EQ(all.size(), static_cast<std::size_t>(kSpace)) << "what it had begun went to the leader";
}

TEST(SplitSearch, AHelperOnABrokenGpuSpoilsNothing) {
  SplitSearch search;
  search.help.plan = [](const Variant& variant) {
    Script script = plain_script(variant);
    script.trial = {OutcomeKind::kCrashed, "the GPU is broken"};
    return script;
  };
  search.second = search.help.device();
  search.both_take_part();
  search.run();
  ASSERT_TRUE(search.result && search.result->answer);
  EXPECT_EQ(search.result->answer->best().variant.key(), kBestKey);
  EXPECT_EQ(search.first.trials.size(), static_cast<std::size_t>(kSpace));
}

TEST(SplitSearch, ALeaderThatFailsLetsItsHelpersGo) {
  SplitSearch search;
  search.lead.definition = search.help.definition = test_template({"A > 100"});
  search.run();
  EXPECT_FALSE(search.result);
  EXPECT_FALSE(search.helped);
  EXPECT_TRUE(search.second.trials.empty());
}

TEST(SplitSearch, AStopEndsBoth) {
  SplitSearch search;
  search.both_take_part();
  const auto tried = search.second.after_trial;
  search.second.after_trial = [&, tried] {
    if (search.second.trials.size() == 3) search.lead.stop = search.help.stop = true;
    tried();
  };
  search.run();
  ASSERT_TRUE(search.result);
  EXPECT_TRUE(search.result->interrupted);
  EXPECT_EQ(search.second.trials.size(), 3U);
  EXPECT_LT(search.first.trials.size(), 3U);
}

}  // namespace
}  // namespace pgtune::session
