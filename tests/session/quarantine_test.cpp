// SPDX-License-Identifier: MIT
// Builds that crashed or hung once are not run again, whoever asks.
#include "tuner/session/pipeline/quarantine.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "test_search.hpp"

namespace pgtune::session {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kOtherKey = "A=4,B=3";

/// As the fake device names the machine code of a variant.
std::string cubin_of(const std::string& key) { return "cubin of " + key; }

FatalTrial fatal_trial(const std::string& key, OutcomeKind kind = OutcomeKind::kCrashed) {
  FatalTrial known;
  known.template_name = "fake";
  known.template_hash = "hash";
  known.variant_key = key;
  known.cubin_hash = cubin_of(key);
  known.outcome = {kind, "an illegal memory access was encountered (cudaErrorIllegalAddress)"};
  known.problem = parse_shape("512x512x512").and_then(with_default_strides).value();
  known.session = 12;
  known.date = "2026-01-01T00:00:00Z";
  return known;
}

Outcome outcome_of(const TestSearch& search, const Result<SearchResult>& result, OutcomeKind kind) {
  EXPECT_TRUE(result && result->failure_examples.count(kind) > 0) << search.store.saved_trials.size();
  if (!result || result->failure_examples.count(kind) == 0) return {};
  return {kind, result->failure_examples.at(kind).front().second};
}

TEST(Quarantine, WhatCrashedElsewhereIsBuiltButNotRunAndTheReasonSaysWhere) {
  TestSearch search;
  search.store.known_killers = {fatal_trial(kBestKey)};
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_THAT(device.trials, Not(Contains(kBestKey)));
  EXPECT_EQ(result->counts.failed.at(OutcomeKind::kQuarantined), 1);
  EXPECT_NE(result->answer->best().variant.key(), kBestKey);
  const Outcome outcome = outcome_of(search, result, OutcomeKind::kQuarantined);
  EXPECT_EQ(outcome.reason,
            "crashed in session 12 of 2026-01-01T00:00:00Z on 512x512x512 f32 nn as fake A=5,B=3: an illegal memory "
            "access was encountered (cudaErrorIllegalAddress)");
  EXPECT_THAT(search.store.saved_trials, Contains(kBestKey)) << "the outcome is stored";
}

TEST(Quarantine, WhatCrashesInTheFinalIsNotRunAgainInTheNextOneUnderAnotherName) {
  TestSearch search;
  search.options.finalists = 1;
  search.plan = plain_but([](const Variant& variant, Script& script) {
    if (variant.key() == kBestKey || variant.key() == kOtherKey) script.cubin = "shared";
    if (variant.key() == kOtherKey) script.time_s = 1.05e-3;  // the next best
  });
  auto device = search.device();
  device.spoil = [](const protocol::RoundRequest& request, protocol::RoundReport& report) {
    for (std::size_t i = 0; request.stage == Stage::kFinal && i < request.contenders.size(); ++i) {
      if (contender_name(protocol::contender_of(request.contenders[i])) != kBestKey) continue;
      report.samples[i].reset();
      report.outcomes[i] = {OutcomeKind::kCrashed, "illegal address"};
    }
  };
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(result->counts.failed,
            (std::map<OutcomeKind, std::int64_t>{{OutcomeKind::kCrashed, 1}, {OutcomeKind::kQuarantined, 1}}));
  for (const auto& round : device.rounds[Stage::kFinal]) EXPECT_THAT(round, Not(Contains(kOtherKey)));
}

TEST(Quarantine, TheSameMachineCodeUnderAnotherNameIsNotRunEither) {
  TestSearch search;
  FatalTrial other = fatal_trial("X=1");
  other.template_name = other.template_hash = "somebody else's";
  other.cubin_hash = cubin_of(kBestKey);
  search.store.known_killers = {other};
  auto device = search.device();
  ASSERT_TRUE(search.run(device));
  EXPECT_THAT(device.trials, Not(Contains(kBestKey)));
}

TEST(Quarantine, ACompilerThatHungIsNotStartedAgainOnTheSameMacros) {
  TestSearch search;
  FatalTrial hung = fatal_trial(kBestKey, OutcomeKind::kTimeout);
  hung.cubin_hash.clear();
  FatalTrial another_version = hung;
  another_version.variant_key = kOtherKey;
  another_version.template_hash = "before the template was mended";
  search.store.known_killers = {hung, another_version};
  auto device = search.device();
  const auto result = search.run(device);
  EXPECT_THAT(device.builds, Not(Contains(kBestKey)));
  EXPECT_THAT(device.builds, Contains(kOtherKey));
  EXPECT_THAT(outcome_of(search, result, OutcomeKind::kQuarantined).reason, HasSubstr("hung in session 12"));
}

TEST(Quarantine, OtherMacrosAreAnotherBuild) {
  TestSearch search;
  space::NamedExpression edge{"EDGE", space::Expression::parse("M % 512 != 0").value()};
  search.definition.defines.push_back(edge);
  FatalTrial hung = fatal_trial(kBestKey, OutcomeKind::kTimeout);  // on 512x512x512: EDGE is 0 there and 1 here
  hung.cubin_hash.clear();
  search.store.known_killers = {hung};
  auto device = search.device();
  ASSERT_TRUE(search.run(device));
  EXPECT_THAT(device.builds, Contains(kBestKey));
}

TEST(Quarantine, RetryFailedRunsThemAll) {
  TestSearch search;
  search.store.known_killers = {fatal_trial(kBestKey)};
  search.options.retry_failed = true;
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(result->answer->best().variant.key(), kBestKey);
  EXPECT_EQ(result->counts.failed.count(OutcomeKind::kQuarantined), 0U);
}

TEST(Quarantine, RetryFailedTriesTheStoredFailuresOfThisProblemAgainAndNothingElse) {
  TestSearch search;
  search.plan = plain_but([](const Variant& variant, Script& script) {
    if (variant.key() == kBestKey) script.trial = {OutcomeKind::kCrashed, "it was the power supply"};
  });
  auto first = search.device();
  const auto before = search.run(first);
  ASSERT_TRUE(before && before->answer);
  EXPECT_EQ(before->counts.failed.at(OutcomeKind::kCrashed), 1);
  search.plan = plain_script;
  search.options.retry_failed = true;
  auto second = search.device();
  const auto result = search.run(second);
  ASSERT_TRUE(result && result->answer);
  EXPECT_FALSE(result->from_store);
  EXPECT_EQ(second.trials, std::vector<std::string>{kBestKey});
  EXPECT_EQ(result->answer->best().variant.key(), kBestKey);
  auto third = search.device();
  EXPECT_TRUE(search.run(third)->from_store) << "nothing is left to retry";
}

TEST(Quarantine, AQuarantinedVariantIsLookedAtAgainByTheNextSearch) {
  TestSearch search;
  search.store.known_killers = {fatal_trial(kBestKey)};
  auto first = search.device();
  ASSERT_TRUE(search.run(first));
  search.store.known_killers.clear();             // it has been retried elsewhere and was right
  search.options.objective = Objective::kEnergy;  // another question: the stored answer does not do
  auto second = search.device();
  ASSERT_TRUE(search.run(second));
  EXPECT_EQ(second.trials, std::vector<std::string>{kBestKey});
}

TEST(Quarantine, AFinalistWhoseCodeCrashedElsewhereMeanwhileIsLeftOut) {
  TestSearch search;
  auto first = search.device();
  first.after_round = [&](Stage stage) { search.stop = stage == Stage::kFinal; };  // every trial is done
  ASSERT_TRUE(search.run(first));
  search.stop = false;
  search.store.known_killers = {fatal_trial(kBestKey)};
  auto second = search.device();
  const auto result = search.run(second);
  ASSERT_TRUE(result && result->answer);
  EXPECT_TRUE(second.trials.empty());
  for (const auto& [stage, rounds] : second.rounds) {
    for (const auto& names : rounds) EXPECT_THAT(names, Not(Contains(kBestKey)));
  }
  EXPECT_NE(result->answer->best().variant.key(), kBestKey);
  EXPECT_EQ(result->counts.failed.at(OutcomeKind::kQuarantined), 1);
}

TEST(Quarantine, WithinOneSearchEqualMachineCodeCrashesOnce) {
  TestSearch search;
  search.plan = plain_but([](const Variant& variant, Script& script) {
    script.cubin = parameter(variant, "A") == 5 ? "the same for all of A=5" : "";
    if (parameter(variant, "A") == 5) script.trial = {OutcomeKind::kTimeout, "hangs"};
  });
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->counts.failed.at(OutcomeKind::kTimeout), 1);
  EXPECT_EQ(result->counts.failed.at(OutcomeKind::kQuarantined), 4);
  EXPECT_THAT(outcome_of(search, result, OutcomeKind::kQuarantined).reason, HasSubstr("hung in this search on 256"));
}

TEST(Quarantine, BrokenHardwareSpeaksAgainstNoVariant) {
  EXPECT_TRUE(is_fatal({OutcomeKind::kCrashed, "running the kernel: ... (cudaErrorIllegalAddress)"}));
  EXPECT_TRUE(is_fatal({OutcomeKind::kTimeout, "measure worker gave no answer within 2 s"}));
  EXPECT_FALSE(is_fatal({OutcomeKind::kCrashed, "running the kernel: ... (cudaErrorECCUncorrectable)"}));
  EXPECT_FALSE(is_fatal({OutcomeKind::kLaunchFailed, "too many resources requested for launch"}));
  EXPECT_FALSE(is_fatal({OutcomeKind::kWrongResult, "element (0,0) of batch 0 is nan"}));
}

}  // namespace
}  // namespace pgtune::session
