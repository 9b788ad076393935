// SPDX-License-Identifier: MIT
// Whoever of the finalists fails, and wherever: the search ends with an answer that knows nothing of them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <tuple>

#include "powered_search.hpp"

namespace pgtune::session {
namespace {

using testing::Contains;
using testing::IsSupersetOf;
using testing::Not;

struct Fault {
  const char* name;
  Stage stage = Stage::kFinal;
  int round = 0;  ///< of the stage; 0: never
  OutcomeKind verified = OutcomeKind::kOk;
};

constexpr std::array kFaults{Fault{"None"},
                             Fault{"InTheRace", Stage::kRace, 1},
                             Fault{"InTheFirstFinalRound", Stage::kFinal, 1},
                             Fault{"InTheSecondFinalRound", Stage::kFinal, 2},
                             Fault{"InTheFirstConfirmRound", Stage::kConfirm, 1},
                             Fault{"InAConfirmRound", Stage::kConfirm, 3},
                             Fault{"Verified", Stage::kFinal, 0, OutcomeKind::kWrongResult},
                             Fault{"CrashedVerified", Stage::kFinal, 0, OutcomeKind::kCrashed}};

void apply(const Fault& fault, Script& script) {
  script.fails_in = fault.stage;
  script.fails_in_round = fault.round;
  script.verified = {fault.verified, "found by the verification"};
}

/// Faults of the best variant and of its rival, and whether the power cap is met.
class FailingFinalists : public testing::TestWithParam<std::tuple<Fault, Fault, bool>> {};

TEST_P(FailingFinalists, AreNotInTheAnswer) {
  const Fault of_best = std::get<0>(GetParam()), of_rival = std::get<1>(GetParam());
  const bool at_the_cap = std::get<2>(GetParam());
  // Near enough that both are in the confirm rounds, and no tie.
  const auto load = [at_the_cap](const std::string& name) {
    support::PowerLoad own = load_at_the_cap(name);
    if (name == kRivalKey) own = support::settling_load(name, 1.006 * kAlone_s, at_the_cap ? 1.34e9 : 1.36e9);
    if (!at_the_cap) own.joules_per_cycle /= 10;
    return own;
  };
  PoweredSearch powered(load);
  powered.change_scripts([&, plan = powered.search.plan](const Variant& variant) {
    Script script = plan(variant);
    if (variant.key() == kBestKey) apply(of_best, script);
    if (variant.key() == kRivalKey) apply(of_rival, script);
    return script;
  });
  const auto result = powered.search.run(powered.device);
  ASSERT_TRUE(result) << result.error().text();
  ASSERT_TRUE(result->answer);
  const Answer& answer = *result->answer;
  std::set<std::string> failed;
  for (const auto& [kind, examples] : result->failure_examples) {
    for (const auto& [key, reason] : examples) failed.insert(key);
  }
  EXPECT_THAT((std::set<std::string>{kBestKey, kRivalKey}), IsSupersetOf(failed)) << "nobody else";
  // The best is in all stages that there are, whatever becomes of its rival; below the cap, where screening tells these
  // few apart, that is the final and the verification. At the cap the final has one round.
  const bool final_comes_to_pass = of_best.round == 1 || !at_the_cap;
  const bool round_comes_to_pass = of_best.stage == Stage::kFinal ? final_comes_to_pass : at_the_cap;
  const bool comes_to_pass = of_best.round > 0 ? round_comes_to_pass : of_best.verified != OutcomeKind::kOk;
  EXPECT_EQ(failed.contains(kBestKey), comes_to_pass);
  EXPECT_EQ(answer.sampling, at_the_cap ? Sampling::kSettled : Sampling::kShort);
  std::set<std::string> ranked;
  for (const RankedVariant& row : answer.ranking) {
    EXPECT_TRUE(ranked.insert(row.variant.key()).second) << row.variant.key() << " is there twice";
    EXPECT_GT(row.time_s, 0.6 * kAlone_s);
    EXPECT_LT(row.time_s, 1.6 * kAlone_s);
  }
  for (const std::string& key : failed) {
    EXPECT_THAT(ranked, Not(Contains(key)));
    EXPECT_THAT(answer.ties, Not(Contains(key)));
  }
  for (const std::string& tie : answer.ties) EXPECT_THAT(ranked, Contains(tie));
  EXPECT_TRUE(answer.from_final);
  std::set<std::string> verified;
  for (const auto& request : powered.device.verify_requests) verified.insert(request.built.variant.key());
  EXPECT_THAT(verified, Contains(answer.best().variant.key()));
  EXPECT_EQ(answer.confirm_rounds > 0, at_the_cap);
}

std::string name_of(const testing::TestParamInfo<std::tuple<Fault, Fault, bool>>& of) {
  const auto& [of_best, of_rival, at_the_cap] = of.param;
  return fmt::format("{}And{}{}", of_best.name, of_rival.name, at_the_cap ? "AtTheCap" : "BelowTheCap");
}

INSTANTIATE_TEST_SUITE_P(Pairs, FailingFinalists,
                         testing::Combine(testing::ValuesIn(kFaults), testing::ValuesIn(kFaults), testing::Bool()),
                         name_of);

}  // namespace
}  // namespace pgtune::session
