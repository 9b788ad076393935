// SPDX-License-Identifier: MIT
// Which of several sessions a replay takes what from.
#include "tool/pgtune/replay/recorded_problem.hpp"

#include <gmock/gmock.h>

#include "db/queries/queries.hpp"
#include "tests/tool/store_fixture.hpp"
#include "tool/pgtune/measuring/database_store.hpp"

namespace pgtune::tool {
namespace {

using test::energy;
using test::sample;
using test::store_key;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Rounds = std::vector<session::ContenderSamples>;

class RecordedProblemTest : public ::testing::Test {
 protected:
  void begin() {
    store_.begin(store_key(), session::SessionKind::kSearch, 1, "pgtune search");
    store_.save_baseline(baseline_);
  }
  void finish() { store_.finish(std::nullopt); }
  void trial(std::int64_t tile, double time_s) {
    store_.save_trial(test::variant(tile), test::build(std::to_string(tile)), test::good_trial(time_s));
  }
  static session::ContenderSamples of_variant(std::int64_t tile, Stage stage, double time_s) {
    return {test::variant(tile), {sample(stage, 1, time_s)}};
  }
  static session::ContenderSamples of_algorithm(int index, Stage stage, double time_s) {
    return {BaselineAlgorithm{index}, {sample(stage, 1, time_s)}};
  }
  device::RecordedProblem load() {
    return recorded_problem(database_, db::list_sessions(database_), store_key().problem, store_key().templates);
  }
  /// Times of a variant's or an algorithm's samples of a stage.
  static std::vector<double> times(const std::vector<Sample>& rounds, Stage stage) {
    std::vector<double> out;
    for (const Sample& recorded : rounds) {
      if (recorded.stage == stage) out.push_back(recorded.time_s);
    }
    return out;
  }
  static const device::RecordedVariant& of(const device::RecordedProblem& problem, std::int64_t tile) {
    return problem.variants.at("tiny/" + test::variant(tile).key());
  }

  db::Database database_ = db::Database::open_memory();
  DatabaseStore store_{database_};
  BaselineReport baseline_{"cuBLASLt 13", {{0, "first", 0, 2, 0}, {1, "second", 0, 1, 0}}, 0, 1, 1, 0};
};

TEST_F(RecordedProblemTest, OfOneSessionHasAllItMeasured) {
  begin();
  trial(16, 1.5);
  store_.save_rounds(Stage::kSteady, {of_algorithm(1, Stage::kSteady, 2)});
  store_.save_rounds(Stage::kFloor, {of_algorithm(1, Stage::kFloor, 3)});
  store_.save_rounds(Stage::kRace, {of_variant(16, Stage::kRace, 4), of_algorithm(1, Stage::kRace, 5)});
  store_.save_rounds(Stage::kFinal, {of_variant(16, Stage::kFinal, 6), of_algorithm(0, Stage::kFinal, 7)});
  store_.save_rounds(Stage::kConfirm, {of_variant(16, Stage::kConfirm, 8)});
  store_.save_energy({std::nullopt, 0, energy(82)});
  store_.save_energy({BaselineAlgorithm{1}, 0, energy(600)});
  store_.save_energy({test::variant(16), 0, energy(500)});
  store_.save_energy({test::variant(16), 1, energy(501)});
  finish();
  const auto problem = load();
  EXPECT_EQ(problem.conditions, Conditions{});
  EXPECT_EQ(problem.baseline.report, baseline_);
  EXPECT_EQ(of(problem, 16).trial, test::good_trial(1.5));
  EXPECT_EQ(of(problem, 16).build.cubin_hash, "16");
  EXPECT_THAT(of(problem, 16).rounds,
              ElementsAre(sample(Stage::kFinal, 1, 6), sample(Stage::kConfirm, 1, 8), sample(Stage::kRace, 1, 4)));
  EXPECT_THAT(of(problem, 16).energy, ElementsAre(energy(500), energy(501)));
  EXPECT_THAT(problem.baseline.rounds.at(0), ElementsAre(sample(Stage::kFinal, 1, 7)));
  EXPECT_THAT(problem.baseline.rounds.at(1),
              ElementsAre(sample(Stage::kSteady, 1, 2), sample(Stage::kFloor, 1, 3), sample(Stage::kRace, 1, 5)));
  EXPECT_THAT(problem.baseline.energy.at(1), ElementsAre(energy(600)));
  EXPECT_THAT(problem.idle_energy, ElementsAre(energy(82)));
}

TEST_F(RecordedProblemTest, TakesTheNewestFinalAndTheLargestRaceEachFromOneSession) {
  begin();  // raced both
  trial(16, 1);
  trial(32, 1);
  store_.save_rounds(Stage::kRace, {of_variant(16, Stage::kRace, 10), of_variant(32, Stage::kRace, 11),
                                    of_algorithm(1, Stage::kRace, 12)});
  store_.save_rounds(Stage::kFinal, {of_variant(16, Stage::kFinal, 13)});
  store_.save_energy({test::variant(16), 0, energy(500)});
  finish();
  begin();  // raced one
  trial(16, 2);
  store_.save_rounds(Stage::kRace, {of_variant(16, Stage::kRace, 20), of_algorithm(1, Stage::kRace, 21)});
  store_.save_rounds(Stage::kFinal, {of_variant(32, Stage::kFinal, 22), of_algorithm(0, Stage::kFinal, 23)});
  finish();
  begin();  // ended early
  store_.save_rounds(Stage::kFloor, {of_algorithm(1, Stage::kFloor, 30)});
  finish();
  const auto problem = load();
  EXPECT_THAT(times(of(problem, 16).rounds, Stage::kRace), ElementsAre(10));
  EXPECT_THAT(times(of(problem, 32).rounds, Stage::kRace), ElementsAre(11));
  EXPECT_THAT(times(problem.baseline.rounds.at(1), Stage::kRace), ElementsAre(12));
  EXPECT_THAT(times(of(problem, 16).rounds, Stage::kFinal), IsEmpty());
  EXPECT_THAT(times(of(problem, 32).rounds, Stage::kFinal), ElementsAre(22));
  EXPECT_THAT(times(problem.baseline.rounds.at(0), Stage::kFinal), ElementsAre(23));
  EXPECT_THAT(times(problem.baseline.rounds.at(1), Stage::kFloor), ElementsAre(30));
  EXPECT_THAT(of(problem, 16).energy, ElementsAre(energy(500)));
  EXPECT_EQ(of(problem, 16).trial, test::good_trial(2)) << "the newest trial counts";
}

TEST_F(RecordedProblemTest, TakesOnlyTheTemplatesAskedFor) {
  const Variant other{"wide", {{"BM", std::int64_t{16}}}};
  session::StoreKey both = store_key();
  both.templates = space::TemplateSet({test::tiny(), test::tiny("beef", "wide")});
  store_.begin(both, session::SessionKind::kSearch, 1, "pgtune search");
  store_.save_baseline(baseline_);
  trial(16, 1);
  store_.save_trial(other, test::build("w"), test::good_trial(2));
  store_.save_rounds(Stage::kFinal, {of_variant(16, Stage::kFinal, 3), {other, {sample(Stage::kFinal, 1, 4)}}});
  finish();
  const auto sessions = db::list_sessions(database_);
  EXPECT_EQ(recorded_problem(database_, sessions, store_key().problem, both.templates).variants.size(), 2U);
  const auto narrow = load();
  ASSERT_EQ(narrow.variants.size(), 1U);
  EXPECT_THAT(times(of(narrow, 16).rounds, Stage::kFinal), ElementsAre(3));
  const auto newer = recorded_problem(database_, sessions, store_key().problem, test::tiny("cafe", "wide"));
  EXPECT_TRUE(newer.variants.empty()) << "of another version";
}

TEST_F(RecordedProblemTest, FindsAnAlgorithmAgainByWhatItIs) {
  begin();
  trial(16, 1);
  store_.save_rounds(Stage::kRace, {of_variant(16, Stage::kRace, 1), of_algorithm(0, Stage::kRace, 10),
                                    of_algorithm(1, Stage::kRace, 11)});
  finish();
  // Another order, and without the old first.
  baseline_.algorithms = {{0, "third", 0, 2, 0}, {1, "other", 0, 1, 0}, {2, "second", 0, 1, 0}};
  begin();
  store_.save_rounds(Stage::kFinal, {of_variant(16, Stage::kFinal, 2), of_algorithm(0, Stage::kFinal, 20)});
  finish();
  const auto problem = load();
  EXPECT_EQ(problem.baseline.report, baseline_);
  EXPECT_THAT(times(problem.baseline.rounds.at(0), Stage::kRace), IsEmpty());
  EXPECT_FALSE(problem.baseline.rounds.contains(1));
  EXPECT_THAT(times(problem.baseline.rounds.at(2), Stage::kRace), ElementsAre(11));
}

}  // namespace
}  // namespace pgtune::tool
