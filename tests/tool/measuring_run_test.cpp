// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/measuring_run.hpp"

#include <gtest/gtest.h>

namespace pgtune::tool {
namespace {

session::SearchResult answered() {
  session::SearchResult result;
  result.answer.emplace();
  return result;
}

TEST(EndOfASearch, ReachingTheBudgetIsAnEndAsAnyOther) {
  session::SearchResult result = answered();
  EXPECT_EQ(exit_code(result, std::nullopt), ExitCode::kDone);
  result.budget_reached = true;
  EXPECT_EQ(exit_code(result, std::nullopt), ExitCode::kDone);
  result.answer.reset();
  EXPECT_EQ(exit_code(result, std::nullopt), ExitCode::kNothingValid);
}

TEST(EndOfASearch, WhatNobodyAskedForIsPartialOrTheSignals) {
  session::SearchResult result = answered();
  result.gave_up = result.budget_reached = true;
  EXPECT_EQ(exit_code(result, std::nullopt), ExitCode::kPartial);
  result.interrupted = true;
  EXPECT_EQ(exit_code(result, ExitCode::kTerminated), ExitCode::kTerminated);
  EXPECT_EQ(exit_code(result, std::nullopt), ExitCode::kInterrupted);
}

}  // namespace
}  // namespace pgtune::tool
