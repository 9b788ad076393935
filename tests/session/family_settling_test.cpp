// SPDX-License-Identifier: MIT
// What a family's search expects of candidates where they were not measured, and at the power cap.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "test_family.hpp"
#include "tuner/session/family/pool.hpp"

namespace pgtune::session {
namespace {

TEST(FamilySearch, SettlesWhereSamplesMeetThePowerCap) {
  TestFamily test;
  test.request.probes = 0;
  auto device = test.search.device();
  std::set<std::size_t> contenders;
  std::set<std::int64_t> anchors;
  bool explores = false;
  test.sees_progress = [&](const Progress& update) { explores = update.part.starts_with("anchor"); };
  device.spoil = [&](const protocol::RoundRequest& request, protocol::RoundReport& report) {
    if (request.stage != Stage::kRace) return;
    contenders.insert(request.contenders.size());
    if (explores) anchors.insert(device.prepare_request.problem.m);
    EXPECT_GT(request.settle_s, 0);
    if (request.contenders.empty() || device.prepare_request.problem.m < 100) return;
    for (std::size_t i = 0; i < report.samples.size(); ++i) {
      if (!report.samples[i]) continue;
      // B = 3 needs fewer cycles than B = 2 and more power: at the cap its clock is lower, and it takes longer.
      const auto& built = std::get<protocol::BuiltVariant>(request.contenders[i]);
      report.samples[i]->power_cap_s = report.samples[i]->time_s;
      if (parameter(built.variant, "B") == 3) report.samples[i]->time_s *= 1.3;
    }
  };
  const auto result = test.run(device);
  ASSERT_TRUE(result) << result.error().text();
  ASSERT_TRUE(result->family);
  EXPECT_EQ(anchors, (std::set<std::int64_t>{1, 8, 64, 256})) << "above the first that met the cap all do";
  EXPECT_GT(*contenders.rbegin(), 2U);
  const auto kernel_at = [&](std::int64_t m) {
    return result->family->kernels.at(static_cast<std::size_t>(result->family->interval_of(m).kernel)).variant;
  };
  EXPECT_EQ(parameter(kernel_at(8), "B"), 3);
}

TEST(FamilySearch, KernelsAreSettledBesideEachMThatTheyServeAtTheCap) {
  TestFamily test;
  test.request.kernels = 2;
  test.request.probes = 0;
  auto device = test.search.device();
  std::map<std::string, std::set<std::int64_t>> settled;  // by id
  device.spoil = [&](const protocol::RoundRequest& request, protocol::RoundReport& report) {
    const std::int64_t m = device.prepare_request.problem.m;
    if (request.stage != Stage::kRace || m < 100) return;
    for (std::size_t i = 0; i < report.samples.size(); ++i) {
      if (!report.samples[i]) continue;
      const Variant& variant = std::get<protocol::BuiltVariant>(request.contenders[i]).variant;
      report.samples[i]->power_cap_s = report.samples[i]->time_s;
      report.samples[i]->time_s *= parameter(variant, "B") == 3 ? 1.3 : 1.05;
      settled[variant.id()].insert(m);
    }
  };
  const auto result = test.run(device);
  ASSERT_TRUE(result) << result.error().text();
  ASSERT_TRUE(result->family);
  for (std::int64_t m = 256; m <= 4096; m += 64) {
    const Family& family = *result->family;
    const Variant& kernel = family.kernels.at(static_cast<std::size_t>(family.interval_of(m).kernel)).variant;
    const auto& at = settled[kernel.id()];
    EXPECT_TRUE(std::any_of(at.begin(), at.end(), [m](std::int64_t there) { return are_beside(m, there); })) << m;
  }
}

TEST(FamilySearch, WhatFailsInASettledSampleServesNone) {
  const auto kernels_where = [](const std::optional<Variant>& failing) {
    TestFamily test;
    test.request.probes = 0;
    test.search.plan = [&](const Variant& variant) {
      Script script = test.script_of(variant);
      script.fails_in = Stage::kRace;
      script.fails_in_round = failing == variant ? 1 : 0;
      return script;
    };
    auto device = test.search.device();
    device.spoil = [&](const protocol::RoundRequest& request, protocol::RoundReport& report) {
      if (request.stage == Stage::kRace) slow_at_cap(report, 1.3);
    };
    const auto result = test.run(device);
    EXPECT_TRUE(result && result->family);
    std::vector<Variant> out;
    for (const FamilyKernel& kernel : result->family->kernels) out.push_back(kernel.variant);
    return out;
  };
  const std::vector<Variant> right = kernels_where(std::nullopt);
  const Variant failing = right.front();
  EXPECT_THAT(kernels_where(failing), ::testing::Not(::testing::Contains(failing)));
}

TEST(FamilySearch, OneOfAKindIsSettled) {
  TestFamily test;
  test.request.probes = 0;
  test.search.definition.kernels[0].dynamic_smem_bytes = space::Expression::parse("64").value();
  auto device = test.search.device();
  std::map<std::int64_t, std::size_t> settled;  // contenders by M
  device.spoil = [&](const protocol::RoundRequest& request, protocol::RoundReport& report) {
    if (request.stage != Stage::kRace) return;
    settled[device.prepare_request.problem.m] += request.contenders.size();
    slow_at_cap(report, 1.2);
  };
  const auto result = test.run(device);
  ASSERT_TRUE(result && result->family) << result.error().text();
  EXPECT_GT(result->family->kernels.size(), 1U);
  EXPECT_GT(settled.size(), 4U);
  for (const auto& [m, contenders] : settled) EXPECT_EQ(contenders, 1U) << m;
}

/// A = 8 is legal only where nothing is settled at first, takes half as long as the others, and is slowed like them.
TEST(FamilySearch, AKernelOfACappedRangeNeedsNotBeLegalWhereOthersAreSettled) {
  TestFamily test;
  test.request.problem.m = 1024;
  test.request.probes = 0;
  test.search.definition.legality.push_back(
      {space::Expression::parse("A != 8 || M > 300 && M < 440").value(), "a test"});
  test.search.plan = [&](const Variant& variant) {
    Script script;
    script.time_s = time_of(variant, test.device->prepare_request.problem.m) * (parameter(variant, "A") == 8 ? 0.5 : 1);
    return script;
  };
  auto device = test.search.device();
  std::map<std::string, std::set<std::int64_t>> settled;  // of A = 8, by id
  device.spoil = [&](const protocol::RoundRequest& request, protocol::RoundReport& report) {
    if (request.stage != Stage::kRace) return;
    for (const auto& contender : request.contenders) {
      const Variant& variant = std::get<protocol::BuiltVariant>(contender).variant;
      if (parameter(variant, "A") == 8) settled[variant.id()].insert(device.prepare_request.problem.m);
    }
    slow_at_cap(report, 1.2);
  };
  const auto result = test.run(device);
  ASSERT_TRUE(result && result->family) << result.error().text();
  EXPECT_FALSE(settled.empty());
  for (const auto& [id, at] : settled)
    EXPECT_EQ(at.size(), 1U) << id << " serves several classes, all beside each other";
  const Family& family = *result->family;
  for (const std::int64_t m : {330, 400, 430}) {
    const Variant& kernel = family.kernels.at(static_cast<std::size_t>(family.interval_of(m).kernel)).variant;
    EXPECT_EQ(parameter(kernel, "A"), 8) << m;
  }
}

/// Kernels of 128 rows take at M below 128 what they take at 128, which their costs do not know, as B is read in any
/// case.
TEST(FamilySearch, NoKernelIsChosenByATimeThatWasOnlyExpected) {
  TestFamily test;
  test.request.problem.m = 2048;
  test.request.kernels = 4;
  test.request.probes = 0;
  const auto true_s = [](const Variant& variant, std::int64_t m) {
    return std::max(time_of(variant, m), 4e-6 + 1e-6 * static_cast<double>(parameter(variant, "A")));
  };
  test.search.plan = [&](const Variant& variant) {
    Script script;
    script.time_s = true_s(variant, test.device->prepare_request.problem.m);
    return script;
  };
  auto device = test.search.device();
  const auto result = test.run(device);
  ASSERT_TRUE(result && result->family) << result.error().text();
  std::int64_t first = 1;
  for (const FamilyInterval& interval : result->family->intervals) {
    const Variant& kernel = result->family->kernels.at(static_cast<std::size_t>(interval.kernel)).variant;
    EXPECT_EQ(interval.basis, FamilyBasis::kMeasured) << first << ".." << interval.last_m;
    EXPECT_NEAR(interval.time_s, true_s(kernel, interval.last_m), 0.02 * interval.time_s) << interval.last_m;
    first = interval.last_m + 1;
  }
}

/// Kernels of 128 rows, at costs in proportion to M above that, and what is expected of them at M below.
TEST(FamilyPool, ExpectsNoLessThanFewerRowsTook) {
  const Candidates all;
  const std::vector<Variant>& variants = all.variants;
  std::vector<Variant> large;
  for (const Variant& variant : variants) {
    if (parameter(variant, "A") == 8) large.push_back(variant);
  }
  ASSERT_GE(large.size(), 2U);
  ASSERT_GE(variants.size(), 12U);
  Pool pool(all.family, all.templates, all.device);
  const auto measured = [](const Variant& variant, double us) {
    return MeasuredM{.tried = {{variant, us * 1e-6, 1e9}}, .settled = {}};
  };
  const auto time_us = [&](const Variant& variant, std::int64_t m) { return *pool.time_s(pool.add(variant), m) * 1e6; };
  pool.take(1024, measured(large[0], 80));
  EXPECT_NEAR(time_us(large[0], 128), 10, 1e-6) << "by costs alone";
  pool.take(1, measured(large[0], 15));
  EXPECT_NEAR(time_us(large[0], 128), 15, 1e-6) << "no less than at 1";
  EXPECT_NEAR(time_us(large[0], 512), 40, 1e-6);
  pool.take(1024, measured(large[0], 12));
  EXPECT_NEAR(time_us(large[0], 128), 12, 1e-6) << "unless a larger M takes less";

  pool.take(512, measured(large[1], 40));
  EXPECT_TRUE(pool.is_expected(pool.add(large[1]), 128));
  EXPECT_FALSE(pool.is_expected(pool.add(large[1]), 127)) << "more than a factor of four away";
  for (int i = 0; i < 12; ++i) {
    EXPECT_NEAR(time_us(large[1], 128), 10, 1e-6) << "few variants were measured at 8";
    pool.take(8, measured(variants[static_cast<std::size_t>(i)], 20));
  }
  const bool is_one_of_them = std::find(variants.begin(), variants.begin() + 12, large[1]) != variants.begin() + 12;
  ASSERT_FALSE(is_one_of_them);
  EXPECT_NEAR(time_us(large[1], 128), 20, 1e-6) << "no less than the best of many at 8";
  EXPECT_FALSE(pool.is_expected(pool.add(large[1]), 128));
}

TEST(FamilySearch, WhatTouchesTheCapAndLosesNothingByItIsNotCapped) {
  for (const double slowness : {1.0, 1.1}) {
    TestFamily test;
    test.request.probes = 0;
    auto device = test.search.device();
    std::set<std::int64_t> settled;
    device.spoil = [&](const protocol::RoundRequest& request, protocol::RoundReport& report) {
      if (request.stage != Stage::kRace) return;
      if (request.contenders.size() > 1) settled.insert(device.prepare_request.problem.m);
      slow_at_cap(report, slowness);
    };
    ASSERT_TRUE(test.run(device));
    EXPECT_EQ(settled.empty(), slowness == 1.0);
  }
}

TEST(FamilySearch, AProbeBetweenMThatWereSampledAlikeHasNoSteadyRun) {
  for (const bool capped : {false, true}) {
    TestFamily test;
    test.request.problem.m = 96;
    test.request.first_m = 64;
    auto device = test.search.device();
    device.spoil = [&](const protocol::RoundRequest& request, protocol::RoundReport& report) {
      if (!capped || request.settle_s <= 0 || device.prepare_request.problem.m < 96) return;
      slow_at_cap(report, 1.1);
    };
    const auto result = test.run(device);
    ASSERT_TRUE(result) << result.error().text();
    ASSERT_TRUE(result->family);
    ASSERT_EQ(result->family->probes.size(), 3U);
    EXPECT_EQ(device.rounds[Stage::kSteady].empty(), !capped) << "between 64 and 96 the cap may slow or not";
  }
}

}  // namespace
}  // namespace pgtune::session
