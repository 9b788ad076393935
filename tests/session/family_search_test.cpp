// SPDX-License-Identifier: MIT
// Whole searches of families on the scripted device.
#include "tuner/session/family/family_search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "test_family.hpp"
#include "tuner/session/family/classes.hpp"
#include "tuner/session/family/pool.hpp"
#include "tuner/space/enumerate.hpp"

namespace pgtune::session {
namespace {

using ::testing::HasSubstr;

/// A probe's own rounds have the baseline beside the variants.
bool is_final_of_search(const protocol::RoundRequest& request) {
  return std::all_of(request.contenders.begin(), request.contenders.end(),
                     [](const auto& contender) { return std::holds_alternative<protocol::BuiltVariant>(contender); });
}

TEST(FamilySearch, AKernelThatIsBuiltForOneMServesFewRows) {
  TestFamily test;
  test.request.problem.m = 40;
  test.request.kernels = 20;
  test.request.probes = 0;
  test.search.definition.defines.push_back({"ROWS", space::Expression::parse("min(M, 16)").value()});
  auto device = test.search.device();
  const auto result = test.run(device);
  ASSERT_TRUE(result && result->family) << result.error().text();
  EXPECT_GE(result->family->intervals.size(), 16U) << "one for each M up to 16";
}

TEST(FamilySearch, CoversItsRangeWithGoodKernels) {
  TestFamily test;
  test.search.options.conditions.data_seed = 7;
  auto device = test.search.device();
  const auto result = test.run(device);
  ASSERT_TRUE(result) << result.error().text();
  ASSERT_TRUE(result->family);
  const Family& family = *result->family;
  ASSERT_TRUE(family.validate());
  EXPECT_EQ(family.conditions, test.search.options.conditions);
  EXPECT_LE(family.kernels.size(), 8U);
  EXPECT_EQ(family.first_m, 1);
  EXPECT_EQ(family.last_m(), 4096);
  EXPECT_GT(result->classes, 20U);
  for (const std::int64_t m : {1, 16, 17, 100, 1000, 2048, 2049, 4096}) {
    const Variant& kernel = family.kernels.at(static_cast<std::size_t>(family.interval_of(m).kernel)).variant;
    EXPECT_EQ(parameter(kernel, "B"), 3) << m;
    double best = 1;
    for (std::int64_t a = m <= 2048 ? 1 : 3; a <= 8; ++a)
      best = std::min(best, time_of({"fake", {{"A", a}, {"B", std::int64_t{3}}}}, m));
    EXPECT_LE(time_of(kernel, m), 1.1 * best) << m << " " << kernel.key();
    if (m > 2048) {
      EXPECT_GT(parameter(kernel, "A"), 2);
    }
  }
  ASSERT_EQ(test.search.store.families.size(), 1U);
  EXPECT_EQ(test.search.store.families.front(), family);
}

TEST(FamilySearch, ProbesOfAnotherWeightLieElsewhere) {
  const auto probed = [](const char* shape) {
    TestFamily test;
    test.request.problem = parse_shape(shape).and_then(with_default_strides).value();
    auto device = test.search.device();
    const auto result = test.run(device);
    std::vector<std::int64_t> out;
    if (!result || !result->family) return out;
    for (const FamilyProbe& probe : result->family->probes) out.push_back(probe.m);
    return out;
  };
  const std::vector<std::int64_t> probes = probed("4096x256x256");
  EXPECT_EQ(probes.size(), 3U);
  EXPECT_EQ(probed("4096x256x256"), probes);
  EXPECT_NE(probed("4096x512x256"), probes);
  EXPECT_NE(probed("4096x256x512"), probes);
}

TEST(FamilySearch, ProbesAreSearchedAsIfThereWereNoFamily) {
  TestFamily test;
  auto device = test.search.device();
  const auto result = test.run(device);
  ASSERT_TRUE(result && result->family);
  ASSERT_EQ(result->family->probes.size(), 3U);
  for (const Progress& update : test.search.progress) {
    if (update.phase != Progress::Phase::kFinal || update.rounds != 12) continue;  // of the probes alone
    EXPECT_NEAR(update.remaining_s.value(), 0.075 * (12 - update.round), 1e-9);
  }
  for (const FamilyProbe& probe : result->family->probes) {
    EXPECT_NEAR(probe.best_s, time_of(probe.best.variant, probe.m), 1e-2 * probe.best_s) << probe.m;
    EXPECT_GT(probe.baseline_first_s, 0);
    EXPECT_GT(probe.baseline_best_s, 0);
    EXPECT_GT(probe.loss(), -0.01);
    EXPECT_LT(probe.loss(), 0.2);
    StoreKey key{result->family->at(probe.m), test.search.definition, device.device_info, {}};
    EXPECT_FALSE(test.search.store.answer(key, Boards::kThisOne)) << "no rounds confirmed it";
    EXPECT_EQ(test.search.store.trials(key).size(), static_cast<std::size_t>(kSpace)) << "a search goes on from there";
  }
}

TEST(FamilySearch, SaysThatItWaitsForExpectations) {
  TestFamily test;
  std::atomic<bool> told = false;
  test.sees_progress = [&](const Progress& update) { told = told || update.phase == Progress::Phase::kExpectation; };
  // Those of classes end once it was said, or never.
  test.search.options.predictor = [&, measuring = std::this_thread::get_id()](const Problem&, const DeviceInfo&) {
    for (int i = 0; i < 300 && !told && std::this_thread::get_id() != measuring; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return nullptr;
  };
  auto device = test.search.device();
  const auto result = test.run(device);
  ASSERT_TRUE(result && result->family);
  EXPECT_TRUE(told);
}

TEST(FamilySearch, AProbesRoundsDecideBetweenWhatItsSearchTakesForEqual) {
  TestFamily test;
  auto device = test.search.device();
  int finals = 0;
  device.spoil = [&](const protocol::RoundRequest& request, protocol::RoundReport& report) {
    if (request.stage != Stage::kFinal || !is_final_of_search(request)) return;
    ++finals;
    for (std::size_t i = 0; i < report.samples.size(); ++i) {
      const auto& built = std::get<protocol::BuiltVariant>(request.contenders[i]);
      if (parameter(built.variant, "B") == 3) report.samples[i]->time_s *= 1.0995;
    }
  };
  const auto result = test.run(device);
  ASSERT_TRUE(result && result->family);
  EXPECT_GT(finals, 0);
  for (const FamilyProbe& probe : result->family->probes)
    EXPECT_EQ(parameter(probe.best.variant, "B"), 3) << probe.m << ", where the final saw it 0.05 % ahead";
}

TEST(FamilySearch, OneBuildServesTilesWithAndWithoutEdges) {
  TestFamily plain, test;
  plain.request.probes = test.request.probes = 0;
  auto without = plain.search.device();
  const auto expected = plain.run(without);
  test.search.definition.defines = {{"EDGE", space::Expression::parse("M % (16 * A) != 0").value()}};
  std::set<std::string> edges;
  const auto sees = [&](const protocol::BuildRequest& build) { edges.insert(build.defines.back().value); };
  auto device = test.search.device();
  device.sees_build = sees;
  const auto result = test.run(device);
  ASSERT_TRUE(expected && result && expected->family && result->family);
  EXPECT_EQ(result->classes, expected->classes);
  EXPECT_EQ(result->family->kernels, expected->family->kernels);
  EXPECT_EQ(result->family->intervals, expected->family->intervals);
  EXPECT_EQ(edges, std::set<std::string>{"1"});

  edges.clear();
  auto alone = test.search.device();
  alone.sees_build = sees;
  test.device = &alone;
  ASSERT_TRUE(run_search(result->family->at(128), test.search.definition, alone, test.search.store, test.search.options,
                         test.search.stop, {}, test.search.clock(alone)));
  EXPECT_EQ(edges, (std::set<std::string>{"0", "1"})) << "a search of one M builds for that one";
}

TEST(FamilySearch, AStoredAnswerOfAProbesMIsTaken) {
  TestFamily test;
  test.request.probes = 1;
  auto first = test.search.device();
  const auto expected = test.run(first);
  ASSERT_TRUE(expected && expected->family);
  const FamilyProbe& probe = expected->family->probes.at(0);
  TestFamily other;
  other.request.probes = 1;
  auto alone = other.search.device();
  other.device = &alone;
  ASSERT_TRUE(run_search(expected->family->at(probe.m), other.search.definition, alone, other.search.store,
                         other.search.options, other.search.stop, {}, other.search.clock(alone)));
  auto second = other.search.device();
  const auto result = other.run(second);
  ASSERT_TRUE(result && result->family);
  EXPECT_EQ(result->family->probes.at(0).best, probe.best);
  EXPECT_LT(second.trials.size() + kSpace / 2, first.trials.size()) << "nothing is searched again";
}

TEST(ExpectedFamily, ProbesBelowThePowerCapTakeLess) {
  FamilyRequest request;
  request.probes = 4;
  const auto probes_s = [&](std::int64_t first_m, std::int64_t last_m) {
    request.problem = with_default_strides(*parse_shape("1x4096x14336")).value();
    request.problem.dtype = Dtype::kBf16;
    request.first_m = first_m;
    request.problem.m = last_m;
    return expected_family(request, {}, 16).probes_s;
  };
  EXPECT_LT(probes_s(1, 16) + 10, probes_s(1, 8192)) << "one of four lies below it";
  EXPECT_LT(probes_s(1, 8192) + 10, probes_s(256, 8192));
  request.probes = 1;
  EXPECT_LT(probes_s(1, 128) + 10, probes_s(128, 128)) << "in the middle of the logarithms";
}

TEST(PossibleProbes, AreNoneOfTheGrid) {
  FamilyRequest request;
  request.problem.m = 1;
  EXPECT_EQ(possible_probes(request), 0U);
  request.problem.m = 8;
  EXPECT_EQ(possible_probes(request), 4U);
  request.problem.m = 8192;
  EXPECT_EQ(possible_probes(request), request.probes);
}

TEST(FamilySearch, AnswersNoSingleM) {
  TestFamily test;
  test.request.probes = 0;
  auto device = test.search.device();
  const auto result = test.run(device);
  ASSERT_TRUE(result && result->family);
  EXPECT_TRUE(result->family->probes.empty());
  for (const std::int64_t m : {1, 8, 64, 4096}) {
    StoreKey key{result->family->at(m), test.search.definition, device.device_info, {}};
    EXPECT_FALSE(test.search.store.answer(key, Boards::kThisOne));
    EXPECT_TRUE(test.search.store.trials(key).empty());
    key.kind = SessionKind::kFamily;
    EXPECT_FALSE(test.search.store.trials(key).empty());
  }
}

/// Variants with B = 3, which are the fastest, have no order; of the others A decides.
space::SumOrder orders_by_a() {
  const auto expression = [](const char* text) { return space::Expression::parse(text).value(); };
  return {.when = expression("B != 3"),
          .words = {{.when = expression("A < 5"), .texts = {"plain"}},
                    {.when = expression("A >= 5"), .texts = {"plain, of ", " rows"}, .numbers = {expression("16")}},
                    {.when = expression("A == 8"), .texts = {"in turn"}}}};
}

TEST(FamilySearch, OneOrderOfSumsServesEveryM) {
  TestFamily test;
  test.request.one_order = true;
  test.request.probes = 1;
  test.search.definition.sum_order = orders_by_a();
  auto device = test.search.device();
  const auto result = test.run(device);
  ASSERT_TRUE(result) << result.error().text();
  ASSERT_TRUE(result->family);
  EXPECT_EQ(result->family->sum_order, "plain");
  for (const FamilyKernel& kernel : result->family->kernels) {
    EXPECT_NE(parameter(kernel.variant, "B"), 3);
    EXPECT_LT(parameter(kernel.variant, "A"), 5);
  }
  EXPECT_EQ(parameter(result->family->probes.at(0).best.variant, "B"), 3) << "the plain search has all variants";
  EXPECT_EQ(result->family->compared_m, 4096);
  ASSERT_EQ(device.rows_requests.size(), 1U);
  const protocol::RowsRequest& rows = device.rows_requests.front();
  EXPECT_EQ(rows.kernels.size(), result->family->kernels.size());
  EXPECT_EQ(rows.products.back().m, 4096);
  std::set<std::int64_t> all, moved;
  for (const protocol::RowsRequest::Product& product : rows.products) {
    all.insert(product.m);
    if (product.moved) moved.insert(product.m);
    EXPECT_FALSE(product.plan.kernels.empty());
  }
  EXPECT_EQ(all.size(), 4096U);
  for (const FamilyInterval& interval : result->family->intervals) {
    EXPECT_TRUE(moved.contains(interval.last_m));
    EXPECT_TRUE(interval.last_m == 4096 || moved.contains(interval.last_m + 1));
  }
  test.request.one_order = false;
  test.request.probes = 0;
  auto second = test.search.device();
  const auto free = test.run(second);
  ASSERT_TRUE(free && free->family);
  EXPECT_FALSE(free->from_store);
  EXPECT_EQ(free->family->sum_order, "");
  EXPECT_TRUE(second.rows_requests.empty());
}

TEST(FamilySearch, RowsThatDifferAreAnError) {
  TestFamily test;
  test.request.one_order = true;
  test.search.definition.sum_order = orders_by_a();
  auto device = test.search.device();
  device.wrong_rows = "row 3 of M = 5 has other bits than at M = 4096";
  const auto result = test.run(device);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text(), HasSubstr("row 3 of M = 5 has other bits than at M = 4096, although"));
  EXPECT_TRUE(test.search.store.families.empty());
}

TEST(FamilySearch, WithoutAnOrderForEveryMThereIsNone) {
  TestFamily test;
  test.request.one_order = true;
  const auto refused_with = [&] {
    auto device = test.search.device();
    const auto result = test.run(device);
    return result ? "" : result.error().text();
  };
  const auto expression = [](const char* text) { return space::Expression::parse(text).value(); };
  test.search.definition.sum_order =
      space::SumOrder{.words = {{.when = expression("M < 3000"), .texts = {"plain"}},
                                {.when = expression("M >= 3000"), .texts = {"plain, late"}}}};
  EXPECT_THAT(refused_with(), HasSubstr("no kernels that add in one order serve every M"));
  test.search.definition.sum_order->words.resize(1);
  EXPECT_THAT(refused_with(), HasSubstr("no variant of fake with a plain order of sums is legal for 4096x256x256"));
  test.search.definition.sum_order.reset();
  EXPECT_THAT(refused_with(), HasSubstr("no variant of fake with a plain order of sums is legal"));
}

bool has_kernel(const Family& family, std::int64_t a, std::int64_t b) {
  return std::any_of(family.kernels.begin(), family.kernels.end(), [&](const FamilyKernel& kernel) {
    return parameter(kernel.variant, "A") == a && parameter(kernel.variant, "B") == b;
  });
}

TEST(FamilySearch, WhatIsWrongAtOneMServesNone) {
  TestFamily right;
  right.request.probes = 0;
  auto whole = right.search.device();
  const auto expected = right.run(whole);
  ASSERT_TRUE(expected && expected->family);
  ASSERT_TRUE(has_kernel(*expected->family, 8, 3)) << "or its failing shows nothing";

  TestFamily test;
  test.request.probes = 0;
  bool failed = false;
  test.search.plan = [&](const Variant& variant) {
    Script script = test.script_of(variant);
    if (parameter(variant, "A") == 8 && parameter(variant, "B") == 3 &&
        test.device->prepare_request.problem.m == 2048) {
      script.trial = {OutcomeKind::kWrongResult, "one element is wrong"};
      failed = true;
    }
    return script;
  };
  auto device = test.search.device();
  const auto result = test.run(device);
  ASSERT_TRUE(result && result->family);
  EXPECT_TRUE(failed);
  EXPECT_FALSE(has_kernel(*result->family, 8, 3));
}

TEST(FamilySearch, WhatDoesNotBuildIsTriedInNoOtherClass) {
  TestFamily test;
  test.request.probes = 0;
  test.search.plan = [&](const Variant& variant) {
    Script script = test.script_of(variant);
    if (parameter(variant, "A") == 5) script.build = {OutcomeKind::kCompileFailed, "no"};
    return script;
  };
  auto device = test.search.device();
  const auto result = test.run(device);
  ASSERT_TRUE(result && result->family);
  std::map<std::string, int> builds;
  for (const std::string& key : device.builds) {
    if (key.starts_with("A=5,")) ++builds[key];
  }
  EXPECT_FALSE(builds.empty());
  const auto most = std::ssize(anchors(1, 4096)) + 1;
  for (const auto& [key, number] : builds) EXPECT_LE(number, most) << key << ": at anchors, and in advance";
}

TEST(FamilySearch, LooksForOtherProcessesInSearchesOfProbesAlone) {
  TestFamily test;
  auto device = test.search.device();
  int looks = 0;
  device.others = [&] {
    ++looks;
    return OtherProcesses{};
  };
  ASSERT_TRUE(test.run(device));
  EXPECT_GT(looks, 0);
  EXPECT_LE(looks, 2 * 3) << "three probes";
  EXPECT_GT(device.prepared, 20);
}

}  // namespace
}  // namespace pgtune::session
