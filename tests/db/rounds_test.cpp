// SPDX-License-Identifier: MIT
// Rounds of every stage, energy windows and ceilings: saved and found again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/queries/queries.hpp"
#include "db/sqlite/statement.hpp"
#include "tests/db/fixtures.hpp"

namespace pgtune::db {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using testing::good_trial;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::rounds_of;
using testing::sample;
using testing::TestSession;

class Rounds : public ::testing::Test {
 protected:
  /// Samples of a variant in a session's rounds.
  std::vector<Sample> samples_of(RowId session, const std::string& key) {
    for (const auto& row : session_rounds(database_, session)) {
      const VariantRow* const variant = variant_of(row.contender);
      if (variant != nullptr && variant->key == key) return row.samples;
    }
    return {};
  }

  Database database_ = Database::open_memory();
  TestSession sample_;
};

TEST_F(Rounds, ComeBackAsTheyWereSaved) {
  save_trial(database_, sample_.begin(database_), good_trial("A=1"));
  const auto session = sample_.begin(database_);
  auto measured = sample(1.1e-3, 2, Stage::kFinal, 2);
  measured.graph = true;
  measured.temperature_c = 61;
  measured.power_cap_s = 0.02;
  measured.thermal_s = 0;
  save_rounds(database_, session, Stage::kFinal,
              {rounds_of("A=1", {sample(1e-3, 0, Stage::kFinal, 1), measured}),
               rounds_of(5, {sample(4e-3, 1, Stage::kFinal, 1)}), rounds_of(0, {sample(3e-3, 2, Stage::kFinal, 1)})});
  save_rounds(database_, session - 1, Stage::kRace, {rounds_of("A=1", {sample(9e-3, 1, Stage::kRace)})});
  std::vector<std::pair<RowId, std::size_t>> of_stages;
  for_each_rounds(database_, {session, session - 1}, {Stage::kFinal, Stage::kConfirm},
                  [&](RowId of, const auto& rounds) { of_stages.emplace_back(of, rounds.size()); });
  EXPECT_THAT(of_stages, ElementsAre(Pair(session, 3), Pair(session - 1, 0)));
  const auto rows = session_rounds(database_, session);
  ASSERT_EQ(rows.size(), 3U);
  const VariantRow* const variant = variant_of(rows[0].contender);
  ASSERT_NE(variant, nullptr);
  EXPECT_EQ(variant->key, "A=1");
  EXPECT_EQ(variant->parameters_json, R"({"key":"A=1"})");
  EXPECT_EQ(std::get<BaselineAlgorithm>(rows[1].contender).index, 5);
  EXPECT_EQ(std::get<BaselineAlgorithm>(rows[2].contender).index, 0);
  ASSERT_EQ(rows[0].samples.size(), 2U);
  const auto& copy = rows[0].samples[1];
  EXPECT_EQ(copy.stage, Stage::kFinal);
  EXPECT_EQ(copy.round, 2);
  EXPECT_EQ(copy.position, 2);
  EXPECT_EQ(copy.launches, 100);
  EXPECT_EQ(copy.time_s, 1.1e-3);
  EXPECT_EQ(copy.sm_clock_hz, 1.98e9);
  EXPECT_TRUE(copy.graph);
  EXPECT_EQ(copy.temperature_c, 61.0);
  EXPECT_EQ(copy.power_cap_s, 0.02);
  EXPECT_EQ(copy.thermal_s, 0.0);
  EXPECT_EQ(rows[0].samples[0].thermal_s, std::nullopt);
  EXPECT_THAT(session_rounds(database_, session + 1), IsEmpty());
  EXPECT_EQ(find_trials(database_, sample_.key()).at("A=1").report.samples.size(), 3U)
      << "rounds are no trial's samples";
}

TEST_F(Rounds, OfTheFloorKeepBothSamplesOfAnAlgorithm) {
  const auto session = sample_.begin(database_);
  save_rounds(database_, session, Stage::kFloor,
              {rounds_of(3, {sample(1, 0, Stage::kFloor, 1), sample(3, 1, Stage::kFloor, 2)}),
               rounds_of(3, {sample(2, 1, Stage::kFloor, 1), sample(4, 0, Stage::kFloor, 2)})});
  const auto rows = session_rounds(database_, session);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(std::get<BaselineAlgorithm>(rows[0].contender).index, 3);
  const auto& samples = rows[0].samples;
  ASSERT_EQ(samples.size(), 4U);
  EXPECT_EQ(samples[0].time_s, 1);
  EXPECT_EQ(samples[1].time_s, 2);
  EXPECT_EQ(samples[2].time_s, 4) << "by position inside the round";
  EXPECT_EQ(samples[3].time_s, 3);
}

TEST_F(Rounds, ASecondCallReplacesItsStageOfItsSessionOnly) {
  const auto other = sample_.begin(database_);
  const auto session = sample_.begin(database_);
  save_rounds(database_, other, Stage::kFinal, {rounds_of("A=1", {sample(7, 0, Stage::kFinal, 1)})});
  save_rounds(database_, session, Stage::kRace, {rounds_of("A=1", {sample(5, 0, Stage::kRace, 1)})});
  save_rounds(database_, session, Stage::kFinal,
              {rounds_of("A=1", {sample(9, 0, Stage::kFinal, 1), sample(9, 0, Stage::kFinal, 2)})});
  save_rounds(database_, session, Stage::kFinal, {rounds_of("A=2", {sample(8, 0, Stage::kFinal, 1)})});
  ASSERT_EQ(samples_of(session, "A=1").size(), 1U);
  EXPECT_EQ(samples_of(session, "A=1")[0].stage, Stage::kRace);
  EXPECT_EQ(samples_of(session, "A=2").size(), 1U);
  EXPECT_EQ(samples_of(other, "A=1").size(), 1U);
}

TEST_F(Rounds, ThatCannotBeSavedLeaveNothing) {
  EXPECT_THAT(error_of([&] { save_rounds(database_, 77, Stage::kFinal, {rounds_of("A=1", {sample(1)})}); }).what(),
              HasSubstr("no session 77"));
  const auto session = sample_.begin(database_);
  // The same place in one round twice.
  EXPECT_THROW(save_rounds(database_, session, Stage::kRace,
                           {rounds_of("A=1", {sample(1, 0, Stage::kRace, 1)}),
                            rounds_of(0, {sample(1, 1, Stage::kRace, 1), sample(2, 1, Stage::kRace, 1)})}),
               Error);
  EXPECT_THAT(session_rounds(database_, session), IsEmpty());
  EXPECT_EQ(totals(database_).rows.at("contenders"), 0);
  EXPECT_EQ(totals(database_).rows.at("variants"), 0);
}

TEST_F(Rounds, EnergyWindowsComeBackAsTheyWereSaved) {
  const auto session = sample_.begin(database_);
  EnergyWindowRow idle;
  idle.window.window_s = 5;
  idle.window.energy_j = 410;
  save_energy(database_, session, idle);
  EnergyWindowRow window{
      VariantRow{"A=1", "{}"}, 1, {5.1, 3500, 51, 0.1, 0.002, 690.5, 1000, 5e-3, 1.5e9, 0.75, 0.25, 55.25, 61.5}};
  save_energy(database_, session, window);
  window.ordinal = 0;
  save_energy(database_, session, window);
  EnergyWindowRow baseline = idle;
  baseline.contender = BaselineAlgorithm{0};
  save_energy(database_, session, baseline);
  baseline.window.energy_j = 411;
  save_energy(database_, session, baseline);

  const auto rows = energy_windows(database_, session);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_FALSE(rows[0].contender.has_value());
  EXPECT_EQ(rows[0].window.energy_j, 410);
  EXPECT_EQ(rows[0].window.power_cap_share, std::nullopt);
  EXPECT_EQ(rows[0].window.thermal_share, std::nullopt);
  EXPECT_EQ(rows[1].ordinal, 0);
  const auto& copy = rows[2];
  EXPECT_EQ(std::get<VariantRow>(copy.contender.value()).key, "A=1");
  EXPECT_EQ(copy.ordinal, 1);
  EXPECT_EQ(copy.window.window_s, 5.1);
  EXPECT_EQ(copy.window.energy_j, 3500);
  EXPECT_EQ(copy.window.steps, 51);
  EXPECT_EQ(copy.window.step_s, 0.1);
  EXPECT_EQ(copy.window.uncertainty, 0.002);
  EXPECT_EQ(copy.window.averaged_power_w, 690.5);
  EXPECT_EQ(copy.window.launches, 1000);
  EXPECT_EQ(copy.window.per_launch_s, 5e-3);
  EXPECT_EQ(copy.window.sm_clock_hz, 1.5e9);
  EXPECT_EQ(copy.window.power_cap_share, 0.75);
  EXPECT_EQ(copy.window.thermal_share, 0.25);
  EXPECT_EQ(copy.window.temperature_start_c, 55.25);
  EXPECT_EQ(copy.window.temperature_end_c, 61.5);
  EXPECT_EQ(std::get<BaselineAlgorithm>(rows[3].contender.value()).index, 0);
  EXPECT_EQ(rows[3].window.energy_j, 411) << "the second of one ordinal replaces the first";
  EXPECT_THAT(energy_windows(database_, session + 1), IsEmpty());
  EXPECT_THAT(error_of([&] { save_energy(database_, 77, idle); }).what(), HasSubstr("no session 77"));
}

TEST_F(Rounds, TheNewestCeilingsOfABoardAndClassCount) {
  EXPECT_FALSE(find_ceilings(database_, sample_.device).has_value());
  save_ceilings(database_, sample_.device, sample_.program, testing::ceilings(1));
  save_ceilings(database_, sample_.device, sample_.program, testing::ceilings(2));
  EXPECT_EQ(find_ceilings(database_, sample_.device), testing::ceilings(2));
  EXPECT_EQ(query_text(database_, "SELECT max(measured_at) FROM ceilings").size(), 20U);
  for (const auto change :
       {+[](DeviceInfo& device) { device.driver_version = "590.10"; },
        +[](DeviceInfo& device) { device.power_limit_w = 500; }, +[](DeviceInfo& device) { device.uuid = "GPU-2"; }}) {
    DeviceInfo other = sample_.device;
    change(other);
    EXPECT_FALSE(find_ceilings(database_, other).has_value()) << device_class(other).text();
  }
}

TEST_F(Rounds, AContenderIsAVariantOrAnAlgorithmAndOncePerSession) {
  const auto session = sample_.begin(database_);
  save_rounds(database_, session, Stage::kRace, {rounds_of("A=1", {sample(1)}), rounds_of(0, {sample(1)})});
  const auto refused = [&](const std::string& values) {
    return std::string(error_of([&] {
                         execute(database_, "INSERT INTO contenders (session, variant, algorithm) VALUES " + values);
                       }).what());
  };
  EXPECT_THAT(refused("(1, 1, 1)"), HasSubstr("CHECK"));
  EXPECT_THAT(refused("(1, 1, NULL)"), HasSubstr("UNIQUE"));
  EXPECT_THAT(refused("(1, NULL, 0)"), HasSubstr("UNIQUE"));
  EXPECT_THAT(refused("(2, NULL, NULL)"), HasSubstr("FOREIGN KEY"));
}

}  // namespace
}  // namespace pgtune::db
