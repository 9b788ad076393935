// SPDX-License-Identifier: MIT
// Which kernels a family gets from what was measured of candidates: tables of times, and the choice among them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "test_family.hpp"
#include "tuner/search/predictor.hpp"
#include "tuner/session/expected_times.hpp"
#include "tuner/session/family/classes.hpp"
#include "tuner/session/family/kernel_choice.hpp"
#include "tuner/session/family/pool.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::session {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Optional;

/// Two candidates without costs: what is measured at one M is expected at others.
struct TwoCandidates {
  TestFamily test;
  DeviceInfo device = test.search.device().device_info;
  space::TemplateDefinition definition = kinds_template();
  space::TemplateSet templates = definition;
  Family family;
  Variant one{"fake", {{"A", std::int64_t{1}}, {"B", std::int64_t{1}}}};
  Variant two{"fake", {{"A", std::int64_t{2}}, {"B", std::int64_t{1}}}};
  Pool pool{family, templates, device};

  explicit TwoCandidates(std::int64_t last_m) {
    family.problem = test.request.problem;
    family.problem.m = last_m;
  }
  static Tried tried(const Variant& variant, double us) { return {variant, us * 1e-6, 1e9}; }
  /// In microseconds.
  std::vector<std::vector<double>> rows(const std::vector<std::int64_t>& tops) {
    std::vector<std::vector<double>> out;
    for (const auto& times : pool.rows(tops).times) {
      out.emplace_back();
      for (const auto& time_s : times) out.back().push_back(time_s.value_or(0) * 1e6);
    }
    return out;
  }
};

auto near(double us) { return DoubleNear(us, 1e-6); }

TEST(FamilyRows, WhatWasNotSettledHasTheUsualClock) {
  TwoCandidates both(256);
  both.pool.take(16, {{both.tried(both.one, 5), both.tried(both.two, 5)}, {{both.one, 5e-6, false}}});
  both.pool.take(256, {{both.tried(both.one, 10), both.tried(both.two, 10)}, {{both.one, 12e-6, true}}});
  EXPECT_THAT(both.rows({256}), ElementsAre(ElementsAre(near(12)), ElementsAre(near(12))));
  EXPECT_THAT(both.rows({16}), ElementsAre(ElementsAre(near(5)), ElementsAre(near(5)))) << "below the cap";
}

TEST(FamilyRows, TheNearerSettledMSaysWhetherTheCapSlows) {
  TwoCandidates both(1024);
  both.pool.take(16, {{both.tried(both.one, 5)}, {{both.one, 5e-6, false}}});
  both.pool.take(256, {{both.tried(both.one, 10)}, {{both.one, 12e-6, true}}});
  for (const std::int64_t m : {1, 16, 63}) EXPECT_FALSE(both.pool.is_capped(m)) << m;
  for (const std::int64_t m : {64, 256, 1024}) EXPECT_TRUE(both.pool.is_capped(m)) << m;
  EXPECT_EQ(both.pool.sampling(16), Sampling::kShort);
  EXPECT_EQ(both.pool.sampling(17), std::nullopt);
  EXPECT_EQ(both.pool.sampling(256), Sampling::kSettled);
}

TEST(FamilyRows, AboveOneThatTheCapSlowsAllAreAtTheCap) {
  TwoCandidates both(1024);
  both.pool.take(256, {{both.tried(both.one, 10)}, {{both.one, 12e-6, true}}});
  both.pool.take(512, {{both.tried(both.two, 30)}, {{both.two, 30e-6, true}}});
  EXPECT_TRUE(both.pool.is_capped(512));
  EXPECT_TRUE(both.pool.is_settled(1, 512));
  EXPECT_EQ(both.pool.sampling(512), Sampling::kSettled);
  EXPECT_THAT(both.rows({512}), ElementsAre(ElementsAre(near(10 * std::cbrt(3))), ElementsAre(near(30))))
      << "at the usual clock of three times the work a cycle";
}

/// In one's cycles as much is done at 512 as at 256, in two's twice as much.
TEST(FamilyRows, AtTheCapTheClockFallsWithTheCubeRootOfTheWorkOfACycle) {
  TwoCandidates both(512);
  both.pool.take(256, {{both.tried(both.one, 10), both.tried(both.two, 10)}, {{both.one, 12e-6, true}}});
  both.pool.take(512, {{both.tried(both.one, 20), both.tried(both.two, 10)}, {}});
  EXPECT_THAT(both.rows({512}), ElementsAre(ElementsAre(near(24)), ElementsAre(near(12 * std::cbrt(2)))));

  both.pool.take(256, {{}, {{both.two, 14.4e-6, true}}});
  EXPECT_THAT(both.rows({256, 512}),
              ElementsAre(ElementsAre(near(12), near(26.4 * std::sqrt(12 / 13.2))),
                          ElementsAre(near(14.4), near(13.2 * std::sqrt(14.4 / 13.2) * std::cbrt(2)))))
      << "a settled sample of another M tells half of how a variant differs from others";

  both.pool.take(512, {{both.tried(both.one, 2000)}, {}});
  EXPECT_THAT(both.rows({512}), ElementsAre(ElementsAre(near(2000)), testing::_)) << "no clock is higher";
}

TEST(FamilyRows, BytesCopiedIntoSharedMemoryAreWorkToo) {
  TwoCandidates both(256);
  // 40 operations of bf16 a byte, and the product itself counts as 4 M * N * K of them, because it is in f32.
  both.definition.l2_bytes = space::Expression::parse("A == 1 ? 0 : 28 * M * N * K / 40").value();
  both.templates = both.definition;
  both.pool.take(256, {{both.tried(both.one, 10), both.tried(both.two, 10)}, {{both.one, 12e-6, true}}});
  EXPECT_THAT(both.rows({256}), ElementsAre(ElementsAre(near(12)), ElementsAre(near(24)))) << "eight times the work";
}

TEST(FamilyRows, ASettledSampleBesideAMTellsHalfOfHowAKindDiffers) {
  TwoCandidates both(1024);
  both.pool.take(256, {{both.tried(both.one, 10), both.tried(both.two, 10)},
                       {{both.one, 12e-6, true}, {both.two, 14.4e-6, true}}});
  both.pool.take(512, {{both.tried(both.two, 10)}, {}});
  both.pool.take(513, {{both.tried(both.two, 10)}, {}});
  EXPECT_TRUE(both.pool.is_settled(1, 512));
  EXPECT_FALSE(both.pool.is_settled(1, 513)) << "more than twice as many rows";
  const auto of_two = both.rows({512, 513}).at(1);
  EXPECT_NEAR(of_two.at(0), 13.2 * std::sqrt(14.4 / 13.2) * std::cbrt(512.0 / 256), 1e-6);
  EXPECT_NEAR(of_two.at(1), 13.2 * std::cbrt(513.0 / 256), 1e-6);
}

TEST(FamilyRows, OneThatTheCapDoesNotSlowIsSettledToo) {
  TwoCandidates both(256);
  both.pool.take(
      256, {{both.tried(both.one, 10), both.tried(both.two, 10)}, {{both.two, 10e-6, true}, {both.one, 12e-6, true}}});
  EXPECT_THAT(both.rows({256}), ElementsAre(ElementsAre(near(12)), ElementsAre(near(10))));
}

TEST(FamilyRows, WhatWasMeasuredBeyondAFactorOfFourCountsAsLonger) {
  TwoCandidates both(512);
  both.pool.take(64, {{both.tried(both.one, 10)}, {}});
  EXPECT_THAT(both.rows({64, 256, 257}), ElementsAre(ElementsAre(near(10), near(10), near(12.5))));
  EXPECT_THAT(both.rows({16}), ElementsAre(ElementsAre(near(10))));
  EXPECT_THAT(both.rows({15}), ElementsAre(ElementsAre(near(12.5))));
  EXPECT_THAT(both.rows({15, 16}), ElementsAre(ElementsAre(near(10), near(10)))) << "no longer than more rows";
}

TEST(FamilyRows, AMeasuredTimeStaysWhereMoreRowsTakeLess) {
  TwoCandidates both(64);
  both.pool.take(16, {{both.tried(both.one, 30)}, {}});
  both.pool.take(64, {{both.tried(both.one, 20)}, {}});
  EXPECT_THAT(both.rows({16, 32, 64}), ElementsAre(ElementsAre(near(30), near(20), near(20))));
}

/// The kernel of each interval, by its A.
std::vector<std::int64_t> chosen_of(TwoCandidates& both, const std::vector<std::int64_t>& tops, bool doubts) {
  FamilyRequest request;
  request.problem = both.family.problem;
  KernelChoice choice(request, both.templates, both.device, both.family, tops, both.pool);
  std::vector<std::int64_t> out;
  const auto chosen = choice.choose(doubts).value();
  for (const CoverInterval& interval : chosen.intervals)
    out.push_back(parameter(both.pool.variant(chosen.rows.variants[interval.kernel]), "A"));
  return out;
}

TEST(KernelChoice, DoubtsExpectedTimesInTheEnd) {
  TwoCandidates both(64);
  both.pool.take(16, {{both.tried(both.one, 11)}, {}});
  both.pool.take(64, {{both.tried(both.one, 11), both.tried(both.two, 10)}, {}});
  EXPECT_THAT(chosen_of(both, {16, 64}, false), ElementsAre(2)) << "expected to be faster for 16 rows, too";
  EXPECT_THAT(chosen_of(both, {16, 64}, true), ElementsAre(1, 2));
}

TEST(FamilyRows, ASampleTellsOfAllVariantsOfItsKind) {
  TwoCandidates both(256);
  both.definition.kernels[0].dynamic_smem_bytes = space::Expression::parse("A == 3 ? 1 : 2").value();
  both.templates = both.definition;
  Variant other = both.one;
  other.parameters[0].value = std::int64_t{3};
  both.pool.take(256, {{both.tried(both.one, 10), both.tried(both.two, 10), both.tried(other, 10)},
                       {{both.one, 14.4e-6, true}, {other, 12e-6, true}}});
  EXPECT_TRUE(both.pool.is_settled(1, 256));
  EXPECT_THAT(both.rows({256}), ElementsAre(ElementsAre(near(14.4)), ElementsAre(near(13.2 * std::sqrt(14.4 / 13.2))),
                                            ElementsAre(near(12))));
}

TEST(KernelChoice, AKernelServesNoClassInWhichItChanges) {
  TwoCandidates both(64);
  both.definition.legality.push_back({space::Expression::parse("A == 1 || M != 20").value(), "a test"});
  both.templates = both.definition;
  for (const std::int64_t m : {16, 64}) both.pool.take(m, {{both.tried(both.one, 11), both.tried(both.two, 10)}, {}});
  FamilyRequest request;
  request.problem = both.family.problem;
  const std::vector<std::int64_t> tops{16, 64};
  KernelChoice choice(request, both.templates, both.device, both.family, tops, both.pool);
  for (int round = 0; round < 2; ++round) {
    const auto chosen = choice.choose(false).value();
    ASSERT_EQ(chosen.intervals.size(), 2U) << round;
    EXPECT_EQ(parameter(both.pool.variant(chosen.rows.variants[chosen.intervals[0].kernel]), "A"), 2);
    EXPECT_EQ(parameter(both.pool.variant(chosen.rows.variants[chosen.intervals[1].kernel]), "A"), 1) << round;
  }
  const std::vector<std::int64_t> narrow{16, 19, 24, 64};  // 20 lies in the third alone
  KernelChoice other(request, both.templates, both.device, both.family, narrow, both.pool);
  const auto chosen = other.choose(false).value();
  std::vector<std::int64_t> ends;
  for (const CoverInterval& interval : chosen.intervals) ends.push_back(narrow[interval.last_class]);
  EXPECT_THAT(ends, ElementsAre(19, 24, 64));
}

TEST(FamilySearch, PromisingVariantsOfAClassAreOfDifferentKinds) {
  TestFamily test;
  test.search.definition.cost =
      space::CostModel{{}, space::Expression::parse("100 * A + (B == 3 ? 0 : B)").value()};  // A decides
  test.search.definition.kernels[0].block[0] = space::Expression::parse("A == 2 ? 32 : 32 * A").value();
  test.search.definition.kernels[0].dynamic_smem_bytes = space::Expression::parse("A == 2 ? 1024 : 512").value();
  test.search.definition.kernels[0].grid = {space::Expression::parse("2").value()};
  test.search.definition.kernels[0].cluster = {space::Expression::parse("B == 2 ? 2 : 1").value()};
  const DeviceInfo device = test.search.device().device_info;
  const auto promise = [&](auto& of, std::size_t most) {
    std::vector<std::pair<std::int64_t, std::int64_t>> out;
    const auto found =
        of(test.search.definition, test.request.problem, device, test.search.options, VariantFilter(), most);
    if (!found) ADD_FAILURE() << found.error().text();
    for (const Variant& one : *found) out.emplace_back(parameter(one, "A"), parameter(one, "B"));
    return out;
  };
  using testing::Pair;
  EXPECT_THAT(promise(promising, 3), ElementsAre(Pair(3, 3), Pair(3, 1), Pair(3, 2)));
  EXPECT_THAT(promise(promising_kinds, 3), ElementsAre(Pair(3, 3), Pair(3, 2), Pair(4, 3)));
  test.request.problem.m = 64;
  EXPECT_THAT(promise(promising_kinds, 4), ElementsAre(Pair(1, 3), Pair(1, 2), Pair(2, 3), Pair(2, 2)))
      << "shared memory tells them apart";
}

/// A predictor that knows each variant of a problem by `log_time`.
template <typename LogTime>
std::shared_ptr<const search::Predictor> knowing(const space::TemplateDefinition& definition, const Problem& problem,
                                                 const DeviceInfo& device, const LogTime& log_time) {
  const auto variants = space::legal_variants(definition, problem, device).value().variants;
  search::Experience known;
  known.variants = described(definition, problem, device, variants).value();
  for (const Variant& variant : variants) known.log_times.push_back(log_time(variant));
  return std::make_shared<const search::Predictor>(search::PredictorTrainer({known}).fit_all(1));
}

TEST(FamilySearch, PromisingAtThePowerCapIsWhatKeepsItsClock) {
  TestFamily test;
  test.search.definition.dtypes = {Dtype::kBf16};
  const DeviceInfo device = test.search.device().device_info;
  const auto first_at = [&](std::int64_t m) {
    Problem problem = parse_shape("8192x8192x8192").value();
    problem.dtype = Dtype::kBf16;
    problem.m = m;
    problem = with_default_strides(problem).value();
    const auto times = knowing(test.search.definition, problem, device,
                               [](const Variant& one) { return parameter(one, "A") == 4 ? 0.0 : 0.1; });
    const auto clocks = knowing(test.search.definition, problem, device,
                                [](const Variant& one) { return parameter(one, "A") == 4 ? 0.7 : 0.0; });
    test.search.options.predictor = [times](const Problem&, const DeviceInfo&) { return times; };
    test.search.options.settled_clocks = [clocks] { return clocks; };
    const auto found = promising(test.search.definition, problem, device, test.search.options, VariantFilter(), 1);
    return parameter(found.value().front(), "A");
  };
  EXPECT_EQ(first_at(16), 4);
  EXPECT_NE(first_at(8192), 4) << "faster, and slowed down";
}

/// Costs name B = 3, which at the anchors is more than kClassReach slower than others.
TEST(FamilySearch, AClassTriesTheModelsChoiceThatWasSlowElsewhere) {
  TestFamily test;
  test.request.probes = 0;
  const std::vector<std::int64_t> at = anchors(1, test.request.problem.m);
  test.search.plan = [&](const Variant& variant) {
    const std::int64_t m = test.device->prepare_request.problem.m;
    const bool slow = parameter(variant, "B") == 3 && std::find(at.begin(), at.end(), m) != at.end();
    Script script;
    script.time_s = time_of(variant, m) * (slow ? 1.19 : 1);
    return script;
  };
  auto device = test.search.device();
  const auto result = test.run(device);
  ASSERT_TRUE(result && result->family) << result.error().text();
  int classes = 0;
  for (std::int64_t m = 96; m < test.request.problem.m; m += 32) {
    if (std::find(at.begin(), at.end(), m) != at.end()) continue;
    StoreKey key{result->family->at(m), test.search.definition, device.device_info, {}};
    key.kind = SessionKind::kFamily;
    const auto trials = test.search.store.trials(key);
    if (trials.empty()) continue;  // no class ends here
    ++classes;
    const auto choice = promising_kinds(test.search.definition, result->family->at(m), device.device_info,
                                        test.search.options, VariantFilter(), 3);
    for (const Variant& one : *choice) EXPECT_TRUE(trials.contains(one.id())) << m << " " << one.id();
  }
  EXPECT_GT(classes, 20);
}

/// Beside what the model names, of which nothing is known here but its costs.
TEST(FamilySearch, AClassTriesAFewThatAreExpectedToBeNearItsBest) {
  TestFamily test;
  test.request.probes = 0;
  auto device = test.search.device();
  const auto result = test.run(device);
  ASSERT_TRUE(result && result->family) << result.error().text();
  int classes = 0;
  for (std::int64_t m = 96; m < 4096; m += 32) {
    StoreKey key{result->family->at(m), test.search.definition, device.device_info, {}};
    key.kind = SessionKind::kFamily;
    std::vector<double> times_s;
    for (const auto& [id, trial] : test.search.store.trials(key)) {
      const std::string text = id.substr(id.find("A="));
      times_s.push_back(time_of(space::parse_variant(test.search.definition, text).value(), m));
    }
    if (times_s.empty() || times_s.size() > 20) continue;  // no class ends here, or it is an anchor
    ++classes;
    const double best_s = *std::min_element(times_s.begin(), times_s.end());
    EXPECT_LE(times_s.size(), 9U) << m;
    for (const double time_s : times_s) EXPECT_LE(time_s, 1.4 * best_s) << m;
  }
  EXPECT_GT(classes, 20);
}

}  // namespace
}  // namespace pgtune::session
