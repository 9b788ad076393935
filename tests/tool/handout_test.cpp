// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/fleet.hpp"

#include <gmock/gmock.h>

namespace pgtune::tool {
namespace {

using testing::ElementsAre;
using AfterFailure = Handout::AfterFailure;

/// Everything one device gets until nothing waits for it.
std::vector<std::size_t> all_of(Handout& handout, std::size_t device) {
  std::vector<std::size_t> taken;
  while (const auto problem = handout.take(device)) {
    taken.push_back(*problem);
    handout.done(device, *problem);
  }
  return taken;
}

TEST(Handout, TheLongestExpectedGoesFirstAndEqualOnesInTheirOrder) {
  Handout handout({1, 5, 3, 5, 1}, 1);
  EXPECT_THAT(all_of(handout, 0), ElementsAre(1, 3, 2, 0, 4));
  EXPECT_TRUE(handout.is_over());
  Handout equal({2, 2, 2}, 1);
  EXPECT_THAT(all_of(equal, 0), ElementsAre(0, 1, 2));
}

TEST(Handout, ProblemsThatAreBegunComeAfterShorterOnes) {
  Handout handout({9, 2, 1, 8, 9}, 1, {true, false, false, true, true});
  EXPECT_THAT(all_of(handout, 0), ElementsAre(1, 2, 0, 4, 3));
  Handout all({1, 2}, 1, {true, true});
  EXPECT_THAT(all_of(all, 0), ElementsAre(1, 0));
}

TEST(Handout, EachProblemIsGivenOnce) {
  Handout handout({3, 2, 1}, 2);
  EXPECT_EQ(handout.take(0), 0U);
  EXPECT_EQ(handout.take(1), 1U);
  handout.done(1, 1);
  EXPECT_EQ(handout.take(1), 2U);
  EXPECT_EQ(handout.take(1), std::nullopt);
  handout.done(1, 2);
  EXPECT_FALSE(handout.is_over()) << "device 0 may still fail, and its problem come back";
  handout.done(0, 0);
  EXPECT_TRUE(handout.is_over());
}

TEST(Handout, AProblemThatADeviceFailedOnGoesToAnotherOne) {
  Handout handout({3, 2}, 2);
  EXPECT_EQ(handout.take(0), 0U);
  EXPECT_EQ(handout.failed(0, 0), AfterFailure::kElsewhere);
  EXPECT_EQ(handout.take(0), 1U) << "not the same again";
  EXPECT_EQ(handout.take(1), 0U);
  handout.done(1, 0);
  handout.done(0, 1);
  EXPECT_TRUE(handout.is_over());
  EXPECT_EQ(handout.devices_left(), 2U);
}

TEST(Handout, ADeviceThatFailsTwiceInARowIsOutAndItsProblemsAreDone) {
  Handout handout({4, 3, 2, 1}, 2);
  EXPECT_EQ(handout.take(0), 0U);
  EXPECT_EQ(handout.failed(0, 0), AfterFailure::kElsewhere);
  EXPECT_EQ(handout.take(0), 1U);
  EXPECT_EQ(handout.failed(0, 1), AfterFailure::kDeviceIsOut);
  EXPECT_EQ(handout.take(0), std::nullopt);
  EXPECT_EQ(handout.devices_left(), 1U);
  EXPECT_THAT(all_of(handout, 1), ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(handout.is_over());
}

TEST(Handout, ASuccessBetweenFailuresClearsTheDevice) {
  Handout handout({5, 4, 3, 2}, 2);
  for (const std::size_t problem : {0U, 2U}) {
    EXPECT_EQ(handout.take(0), problem);
    EXPECT_EQ(handout.failed(0, problem), AfterFailure::kElsewhere);
    const auto next = handout.take(0);
    ASSERT_TRUE(next);
    handout.done(0, *next);
  }
  EXPECT_FALSE(handout.is_out(0));
}

TEST(Handout, AProblemThatFailsOnTwoDevicesIsAtFaultAndTheyAreNot) {
  Handout handout({9, 8, 1, 1, 1, 1}, 3);
  // Two problems that no device can do: no device may be dropped for them.
  for (const std::size_t device : {0U, 1U}) {
    EXPECT_EQ(handout.take(device), 0U);
    EXPECT_EQ(handout.failed(device, 0), device == 0 ? AfterFailure::kElsewhere : AfterFailure::kGivenUp);
  }
  for (const std::size_t device : {0U, 1U}) {
    EXPECT_EQ(handout.take(device), 1U);
    EXPECT_EQ(handout.failed(device, 1), device == 0 ? AfterFailure::kElsewhere : AfterFailure::kGivenUp);
  }
  EXPECT_EQ(handout.devices_left(), 3U);
  EXPECT_THAT(all_of(handout, 2), ElementsAre(2, 3, 4, 5));
  EXPECT_TRUE(handout.is_over());
}

TEST(Handout, WhatFailedOnADeviceThatIsOutIsNotHeldAgainstAProblem) {
  Handout handout({5, 4, 3}, 3);
  EXPECT_EQ(handout.take(0), 0U);
  EXPECT_EQ(handout.failed(0, 0), AfterFailure::kElsewhere);
  EXPECT_EQ(handout.take(0), 1U);
  EXPECT_EQ(handout.failed(0, 1), AfterFailure::kDeviceIsOut);
  EXPECT_EQ(handout.take(1), 0U);
  EXPECT_EQ(handout.failed(1, 0), AfterFailure::kElsewhere) << "by two devices, but one of them fails at everything";
  EXPECT_EQ(handout.take(2), 0U);
}

TEST(Handout, WithoutAnotherDeviceTheProblemsAreLeft) {
  Handout handout({2, 1}, 1);
  EXPECT_EQ(handout.take(0), 0U);
  EXPECT_EQ(handout.failed(0, 0), AfterFailure::kNoDeviceLeft);
  EXPECT_EQ(handout.take(0), 1U);
  EXPECT_EQ(handout.failed(0, 1), AfterFailure::kDeviceIsOut);
  EXPECT_TRUE(handout.is_over());
  EXPECT_EQ(handout.devices_left(), 0U);
}

TEST(Handout, ADeviceMayLeaveByItself) {
  Handout handout({2, 1}, 2);
  EXPECT_EQ(handout.take(0), 0U);
  handout.leave(0);
  EXPECT_THAT(all_of(handout, 1), ElementsAre(0, 1));
  EXPECT_TRUE(handout.is_over());
}

}  // namespace
}  // namespace pgtune::tool
