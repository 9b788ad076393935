// SPDX-License-Identifier: MIT
// A whole search: its answer, its counts, its errors, and answering from the store.
#include "tuner/session/search_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "test_search.hpp"
#include "tuner/operation/operation_definition.hpp"
#include "tuner/session/rounds/round_plan.hpp"

namespace pgtune::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::int64_t sum_of_failures(const CountsRecord& counts) {
  std::int64_t sum = 0;
  for (const auto& [kind, count] : counts.failed) sum += count;
  return sum;
}

TEST(Search, FindsTheTrueBest) {
  TestSearch search;
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result) << result.error().text();
  ASSERT_TRUE(result->answer);
  const RankedVariant& best = result->answer->best();
  EXPECT_EQ(best.variant.key(), kBestKey);
  EXPECT_NEAR(best.time_s, 1e-3, 1e-6);
  EXPECT_NEAR(best.tflops, 2.0 * 256 * 256 * 256 / best.time_s / 1e12, 1e-12);
  EXPECT_NEAR(best.ratio_to_baseline, 1.1, 2e-3);  // the best baseline, not the first
  EXPECT_LE(best.ratio_low, best.ratio_to_baseline);
  EXPECT_GE(best.ratio_high, best.ratio_to_baseline);
  EXPECT_NEAR(result->answer->baseline_first_s, 1.2e-3, 2e-6);
  EXPECT_NEAR(result->answer->baseline_best_s, 1.1e-3, 2e-6);
  EXPECT_TRUE(result->answer->ties.empty());
  EXPECT_TRUE(result->answer->complete);
  EXPECT_TRUE(result->answer->from_final);
  EXPECT_EQ(result->answer->finished_at, "2026-01-01T00:00:00Z");
  EXPECT_EQ(result->answer->ranking.size(), 8U);
  EXPECT_FALSE(result->interrupted || result->budget_reached || result->from_store);
  EXPECT_FALSE(result->answer->expected_missed || result->answer->expected_missed_of_presets);
  EXPECT_EQ(device.trials.front(), "A=1,B=1") << "the default leads";
}

TEST(Search, SeedsFollowTheDefault) {
  TestSearch search;
  Variant seed = search.definition.default_variant();
  seed.parameters[0].value = std::int64_t{4};
  search.definition.seeds = {seed};
  auto device = search.device();
  ASSERT_TRUE(search.run(device));
  EXPECT_EQ(device.trials.at(0), "A=1,B=1");
  EXPECT_EQ(device.trials.at(1), "A=4,B=1");
}

TEST(Search, EveryFailureIsCountedExplainedSavedAndNeverWins) {
  TestSearch search;
  search.plan = plain_but([](const Variant& variant, Script& script) {
    const auto a = parameter(variant, "A");
    if (a == 2) script.build = {OutcomeKind::kCompileFailed, "no such register"};
    if (a == 3) script.trial = {OutcomeKind::kCrashed, "illegal address"};
    if (a == 4) script.trial = {OutcomeKind::kTimeout, "hung"};
    if (a == 5) script.trial = {OutcomeKind::kWrongResult, "off by 3"};
    if (a == 6) script.spill_bytes = 48;
    if (a == 5 || a == 3) script.time_s = 1e-6;  // would win if it were right
  });
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(result->answer->best().variant.key(), "A=7,B=3");
  const CountsRecord& counts = result->counts;
  EXPECT_EQ(counts.space, kSpace);
  EXPECT_EQ(counts.valid, kSpace);
  EXPECT_EQ(counts.compiled, kSpace - 5);
  EXPECT_EQ(counts.measured, kSpace - 25);
  EXPECT_EQ(counts.measured + sum_of_failures(counts), counts.valid);
  EXPECT_EQ(counts.failed.at(OutcomeKind::kInvalid), 5);
  EXPECT_EQ(counts.failed.at(OutcomeKind::kCompileFailed), 5);
  EXPECT_EQ(search.store.saved_trials.size(), static_cast<std::size_t>(kSpace));
  const auto& spills = result->failure_examples.at(OutcomeKind::kInvalid);
  ASSERT_EQ(spills.size(), 3U);
  EXPECT_EQ(spills.front().first, "A=6,B=1");
  EXPECT_EQ(spills.front().second, "spills 48 bytes per thread");
  EXPECT_EQ(result->failure_examples.at(OutcomeKind::kCrashed).front().second, "illegal address");
}

TEST(Search, NothingValidFinishesWithoutAnAnswer) {
  TestSearch search;
  search.plan = plain_but([](const Variant&, Script& script) { script.trial = {OutcomeKind::kWrongResult, "always"}; });
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->answer);
  EXPECT_FALSE(result->interrupted);
  EXPECT_TRUE(device.rounds[Stage::kFinal].empty());
  ASSERT_EQ(search.store.finished.size(), 1U);
  EXPECT_FALSE(search.store.finished.front());
}

TEST(Search, APlanThatCannotBeMadeIsTheVariantsFate) {
  TestSearch search;
  search.definition.kernels.front().grid[0] = space::Expression::parse("16 / (A - 5)").value();
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->counts.failed.at(OutcomeKind::kInvalid), 8 * 5 - 3 * 5);  // A <= 5: zero, negative or no grid
  EXPECT_THAT(result->failure_examples.at(OutcomeKind::kInvalid).front().second, HasSubstr("grid"));
  ASSERT_TRUE(result->answer);
  EXPECT_EQ(result->answer->best().variant.key(), "A=6,B=3");
}

TEST(Search, AnswersFromTheStoreWithoutTouchingTheDevice) {
  TestSearch search;
  auto device = search.device();
  const auto first = search.run(device);
  ASSERT_TRUE(first && first->answer);
  auto untouched = search.device();
  const auto again = search.run(untouched);
  ASSERT_TRUE(again && again->answer);
  EXPECT_TRUE(again->from_store);
  EXPECT_EQ(again->answer->best().variant.key(), kBestKey);
  EXPECT_EQ(again->counts.measured, first->counts.measured);
  EXPECT_EQ(again->baseline, first->baseline);
  EXPECT_EQ(untouched.prepared, 0);
  EXPECT_TRUE(untouched.builds.empty());
  EXPECT_EQ(search.store.sessions, 1);
}

TEST(Search, ForceMeasuresEverythingAgain) {
  TestSearch search;
  auto device = search.device();
  ASSERT_TRUE(search.run(device));
  search.options.force = true;
  auto again = search.device();
  const auto result = search.run(again);
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->from_store);
  EXPECT_EQ(again.trials, device.trials);
  EXPECT_EQ(search.store.sessions, 2);
}

TEST(Search, AnotherTemplateContentOrDriverBranchIsAnotherQuestion) {
  TestSearch search;
  auto device = search.device();
  ASSERT_TRUE(search.run(device));
  auto newer = search.device();
  newer.device_info.driver_version = "590.2";
  const auto result = search.run(newer);
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->from_store);
  EXPECT_EQ(newer.trials.size(), static_cast<std::size_t>(kSpace));
}

TEST(Search, TwoRunsGiveTheSameAnswer) {
  TestSearch first, second;
  auto device_1 = first.device();
  auto device_2 = second.device();
  const auto a = first.run(device_1);
  const auto b = second.run(device_2);
  ASSERT_TRUE(a && b && a->answer && b->answer);
  EXPECT_EQ(a->answer->best().variant, b->answer->best().variant);
  EXPECT_EQ(a->answer->best().time_s, b->answer->best().time_s);
  EXPECT_EQ(a->answer->best().ratio_low, b->answer->best().ratio_low);
  EXPECT_EQ(device_1.trials, device_2.trials);
  EXPECT_EQ(device_1.rounds, device_2.rounds);
}

TEST(Search, AnotherSeedTriesInAnotherOrderAndFindsTheSame) {
  TestSearch first, second;
  second.options.seed = 2;
  auto device_1 = first.device();
  auto device_2 = second.device();
  const auto a = first.run(device_1);
  const auto b = second.run(device_2);
  ASSERT_TRUE(a && b && a->answer && b->answer);
  EXPECT_NE(device_1.trials, device_2.trials);
  EXPECT_EQ(b->answer->best().variant.key(), kBestKey);
}

TEST(Search, RefusesAProblemLargerThanTheMemory) {
  TestSearch search;
  search.problem = parse_shape("65536x65536x65536").and_then(with_default_strides).value();
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(result.error().text(), HasSubstr("needs 48.0 GiB"));
  EXPECT_THAT(result.error().text(), HasSubstr("has 1.0 GiB"));
  EXPECT_THAT(result.error().text(), HasSubstr("smaller shape"));
  EXPECT_EQ(search.store.sessions, 0);
  EXPECT_EQ(device.prepared, 0);
}

TEST(Search, AnOperationLargerThanTheMemoryIsToldWhichSizesToLessen) {
  const auto path = std::filesystem::path(PGTUNE_SOURCE_DIR) / "operations/softmax.json";
  TestSearch search;
  search.problem =
      operation::make_problem(operation::load_operation(path).value(), {{"M", 65536}, {"N", 65536}}, Dtype::kBf16)
          .value();
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(result.error().text(), "softmax bf16 M=65536,N=65536 needs 16.0 GiB for its buffers, " +
                                       device.device_info.name + " has 1.0 GiB: choose smaller sizes (M, N)");
  EXPECT_EQ(device.prepared, 0);
}

TEST(Search, AnEmptySpaceNamesTheRulesThatEmptiedItLargestFirst) {
  TestSearch search;
  search.definition = test_template({"A > 1", "A * M < 1"});
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(result.error().text(), HasSubstr("all 40 points"));
  EXPECT_THAT(result.error().text(), HasSubstr("\n  35 removed: because of A * M < 1 (A * M < 1)"
                                               "\n  5 removed: because of A > 1 (A > 1)"));
  EXPECT_EQ(search.store.sessions, 0);
}

TEST(Search, ProgressEndsWithEverythingDone) {
  TestSearch search;
  auto device = search.device();
  ASSERT_TRUE(search.run(device));
  using Phase = Progress::Phase;
  ASSERT_GE(search.progress.size(), 4U);
  EXPECT_EQ(search.progress.front().phase, Phase::kPrepare);
  const Progress& last = search.progress.back();
  EXPECT_EQ(last.phase, Phase::kDone);
  EXPECT_EQ(last.remaining_s, 0);
  EXPECT_EQ(last.total, kSpace);
  EXPECT_EQ(last.done, kSpace);
  EXPECT_GT(last.cut, 0);
  EXPECT_NEAR(last.best_s, 1e-3, 1e-6);
  EXPECT_DOUBLE_EQ(last.baseline_best_s, 1.1e-3);
  EXPECT_EQ(last.round, last.rounds);
  EXPECT_EQ(last.problem, search.problem);
}

TEST(Search, ProgressIsThrottledAndEstimatesWhatIsLeft) {
  TestSearch search;
  auto device = search.device();
  device.trial_s = 0.05;  // 40 trials: 2 s
  ASSERT_TRUE(search.run(device));
  std::vector<Progress> searching;
  for (const Progress& update : search.progress) {
    if (update.phase == Progress::Phase::kSearch) searching.push_back(update);
  }
  EXPECT_GE(searching.size(), 5U);
  EXPECT_LE(searching.size(), 12U) << "about five a second";
  const Progress& middle = searching[searching.size() / 2];
  ASSERT_TRUE(middle.remaining_s);
  const double trials_s = 0.05 * static_cast<double>(middle.total - middle.done);
  EXPECT_NEAR(*middle.remaining_s,
              trials_s + reserved_for_rounds_s(search.options, 1.1e-3, Sampling::kShort, std::nullopt), 0.01);
  for (const Progress& update : search.progress) {
    if (update.phase != Progress::Phase::kFinal || update.round == 0) continue;
    EXPECT_NEAR(update.remaining_s.value(), 0.1 * (24 - update.round), 1e-9);
  }
}

/// A second template over the same parameters whose best beats the first one's.
Result<SearchResult> search_two(TestSearch& search, FakeDevice& device) {
  space::TemplateDefinition second = test_template();
  second.name = "second";
  second.content_hash = "other";
  return run_search(
      search.problem, space::TemplateSet({search.definition, second}), device, search.store, search.options,
      search.stop, [&](const Progress& update) { search.progress.push_back(update); }, search.clock(device));
}

TEST(SearchSession, SeveralTemplatesShareOneFinal) {
  TestSearch search;
  search.plan = plain_but([](const Variant& variant, Script& script) {
    if (variant.template_name == "second") script.time_s *= 0.95;
  });
  FakeDevice device = search.device();
  const auto result = search_two(search, device).value();
  EXPECT_EQ(result.answer->best().variant.id(), std::string("second/") + kBestKey);
  EXPECT_EQ(result.counts.space, 2 * kSpace);
  EXPECT_EQ(result.counts.valid, 2 * kSpace);
  EXPECT_EQ(search.store.sessions, 1);
  std::set<std::string> templates;
  for (const RankedVariant& row : result.answer->ranking) templates.insert(row.variant.template_name);
  EXPECT_EQ(templates.size(), 2U) << "finalists of both";
}

TEST(SearchSession, ATemplateThatIsNotLegalLeavesTheSearchToTheOthers) {
  TestSearch search;
  search.definition = test_template({"M < 1"});
  FakeDevice device = search.device();
  const auto result = search_two(search, device).value();
  EXPECT_EQ(result.answer->best().variant.template_name, "second");
  EXPECT_EQ(result.counts.valid, kSpace);
}

TEST(SearchSession, NoLegalTemplateNamesThemAll) {
  TestSearch search;
  FakeDevice device = search.device();
  space::TemplateDefinition second = test_template({"N < 1"});
  second.name = "second";
  const auto result = run_search(search.problem, space::TemplateSet({test_template({"M < 1"}), second}), device,
                                 search.store, search.options, search.stop, {}, search.clock(device));
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().text(), testing::AllOf(testing::HasSubstr("fake, second"),
                                                    testing::HasSubstr("40 removed from second: because of N < 1")));
}

TEST(SearchSession, WhoElseComputesOnTheGpuAtItsStartOrEndIsNoted) {
  TestSearch search;
  auto device = search.device();
  device.others = [&] { return OtherProcesses{{{device.trials.empty() ? 4711 : 4712, 0, "python3"}}, false}; };
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_THAT(result->answer->notes,
              testing::Contains(testing::HasSubstr("4711 (python3) at the start, 4712 (python3) at the end")));
}

TEST(SearchSession, AClockThatFallsWhileOtherGpusWorkIsNoted) {
  TestSearch search;
  auto device = search.device();
  for (int i = 0; i < 12; ++i) {
    device.beside.push_back({0, 0, (1500 + i % 2) * 1e6});
    device.beside.push_back({0, 3, (1470 + i % 2) * 1e6});
  }
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_THAT(result->answer->notes, testing::Contains(HasSubstr("2.0 % lower while 3 other GPUs")));
}

}  // namespace
}  // namespace pgtune::session
