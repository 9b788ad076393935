// SPDX-License-Identifier: MIT
// What a family's search stores, takes from the store, and leaves when it is stopped.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "test_family.hpp"

namespace pgtune::session {
namespace {

TEST(FamilySearch, IsAnsweredByTheStore) {
  TestFamily test;
  auto first = test.search.device();
  ASSERT_TRUE(test.run(first));
  auto second = test.search.device();
  const auto again = test.run(second);
  ASSERT_TRUE(again && again->family);
  EXPECT_TRUE(again->from_store);
  EXPECT_EQ(second.prepared, 0);
  test.request.probes = 4;
  auto third = test.search.device();
  const auto more = test.run(third);
  ASSERT_TRUE(more && more->family);
  EXPECT_FALSE(more->from_store);
  EXPECT_EQ(more->family->probes.size(), 4U);
  test.request.first_m = 2;
  test.request.probes = 0;
  auto fourth = test.search.device();
  const auto other = test.run(fourth);
  ASSERT_TRUE(other && other->family);
  EXPECT_FALSE(other->from_store);
}

TEST(FamilySearch, ResumesWithoutMeasuringAgain) {
  TestFamily straight, test;
  straight.request.probes = test.request.probes = 0;
  auto whole = straight.search.device();
  const auto expected = straight.run(whole);
  ASSERT_TRUE(expected && expected->family);

  auto first = test.search.device();
  first.after_trial = [&] { test.search.stop = first.trials.size() == 150; };
  const auto stopped = test.run(first);
  ASSERT_TRUE(stopped);
  EXPECT_TRUE(stopped->interrupted);
  EXPECT_FALSE(stopped->family);
  EXPECT_TRUE(test.search.store.families.empty());
  test.search.stop = false;
  auto second = test.search.device();
  const auto resumed = test.run(second);
  ASSERT_TRUE(resumed && resumed->family);
  EXPECT_EQ(resumed->family->kernels, expected->family->kernels);
  EXPECT_LT(second.trials.size(), whole.trials.size() - 100);
}

TEST(FamilySearch, StoppedWhileItChoosesItStoresNothing) {
  TestFamily test;
  test.request.kernels = 2;
  test.request.probes = 0;
  bool chose = false;
  test.sees_progress = [&](const Progress& update) {
    chose = chose || update.part.starts_with("expected time");
    test.search.stop = chose;
  };
  auto device = test.search.device();
  const auto result = test.run(device);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_TRUE(chose);
  EXPECT_TRUE(result->interrupted);
  EXPECT_FALSE(result->family);
  EXPECT_TRUE(test.search.store.families.empty());
}

/// Stops in the probe with this number.
Result<FamilyResult> run_until_probe(TestFamily& test, FakeDevice& device, int number) {
  test.sees_progress = [&test, part = "probe " + std::to_string(number) + " of"](const Progress& update) {
    if (update.part.starts_with(part)) test.search.stop = true;
  };
  auto result = test.run(device);
  test.sees_progress = {};
  test.search.stop = false;
  return result;
}

TEST(FamilySearch, StoppedProbesAreOfTheWholeRangeAndAreKept) {
  TestFamily test;
  test.request.probes = 8;
  auto first = test.search.device();
  const auto stopped = run_until_probe(test, first, 3);
  ASSERT_TRUE(stopped && stopped->family) << stopped.error().text();
  EXPECT_TRUE(stopped->interrupted);
  ASSERT_EQ(stopped->family->probes.size(), 2U);
  EXPECT_LT(stopped->family->probes[0].m, 64) << "the first half of the logarithms of 1..4096";
  EXPECT_GE(stopped->family->probes[1].m, 64);

  const int searched = test.search.store.baselines;
  auto second = test.search.device();
  const auto resumed = test.run(second);
  ASSERT_TRUE(resumed && resumed->family);
  EXPECT_EQ(resumed->family->probes.size(), 8U);
  EXPECT_TRUE(std::is_sorted(resumed->family->probes.begin(), resumed->family->probes.end(),
                             [](const FamilyProbe& a, const FamilyProbe& b) { return a.m < b.m; }));
  for (const FamilyProbe& known : stopped->family->probes)
    EXPECT_EQ(std::count(resumed->family->probes.begin(), resumed->family->probes.end(), known), 1) << known.m;
  EXPECT_EQ(test.search.store.baselines, searched + 6) << "of the other probes alone";
}

TEST(FamilySearch, ResumesWithTheSettledSamplesThatItHas) {
  TestFamily test;
  std::size_t settled = 0;
  const auto slow = [&](const protocol::RoundRequest& request, protocol::RoundReport& report) {
    if (request.stage != Stage::kRace || test.search.store.last_kind != SessionKind::kFamily) return;
    settled += request.contenders.size();
    slow_at_cap(report, 1.2);
  };
  auto first = test.search.device();
  first.spoil = slow;
  const auto stopped = run_until_probe(test, first, 1);
  ASSERT_TRUE(stopped && stopped->family) << stopped.error().text();
  EXPECT_GT(settled, 8U);
  settled = 0;
  auto second = test.search.device();
  second.spoil = slow;
  const auto resumed = test.run(second);
  ASSERT_TRUE(resumed && resumed->family);
  EXPECT_EQ(settled, 0U);
  EXPECT_EQ(resumed->family->kernels, stopped->family->kernels);
  EXPECT_EQ(resumed->family->intervals, stopped->family->intervals);
}

TEST(FamilySearch, AStoppedOneReplacesNoneWithMoreProbes) {
  TestFamily test;
  auto first = test.search.device();
  ASSERT_TRUE(test.run(first));
  test.search.options.force = true;
  auto second = test.search.device();
  const auto stopped = run_until_probe(test, second, 2);
  ASSERT_TRUE(stopped) << stopped.error().text();
  EXPECT_TRUE(stopped->interrupted);
  EXPECT_FALSE(stopped->family);
  ASSERT_EQ(test.search.store.families.size(), 1U);
  EXPECT_EQ(test.search.store.families.front().probes.size(), 3U);
}

TEST(FamilySearch, ARangeWithFewerMThanProbesIsNotMeasuredAgain) {
  TestFamily test;
  test.request.problem = parse_shape("8x256x256").and_then(with_default_strides).value();
  test.request.probes = 8;
  auto first = test.search.device();
  const auto whole = test.run(first);
  ASSERT_TRUE(whole && whole->family);
  EXPECT_LT(whole->family->probes.size(), 8U);
  const int searched = test.search.store.baselines;
  auto second = test.search.device();
  const auto again = test.run(second);
  ASSERT_TRUE(again && again->family);
  EXPECT_EQ(*again->family, *whole->family);
  EXPECT_TRUE(second.trials.empty());
  EXPECT_EQ(test.search.store.baselines, searched);
  EXPECT_EQ(test.search.store.families.size(), 1U);
}

TEST(FamilySearch, RetriesWhatFailedWhereThatIsAskedFor) {
  TestFamily test;
  auto first = test.search.device();
  ASSERT_TRUE(test.run(first));
  test.search.options.retry_failed = true;
  auto second = test.search.device();
  const auto again = test.run(second);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->from_store);
}

}  // namespace
}  // namespace pgtune::session
