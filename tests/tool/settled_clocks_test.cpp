// SPDX-License-Identifier: MIT
#include "tool/pgtune/learning/settled_clocks.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "tool/pgtune/learning/learned_expectation.hpp"
#include "tuner/session/expected_times.hpp"

namespace pgtune::tool {
namespace {

using ::testing::SizeIs;

db::Database recording(const std::string& name) {
  return db::Database::open(PGTUNE_SOURCE_DIR "/recordings/h200-" + name + ".db.zst", db::OpenMode::kReadOnly);
}

/// How much longer than the race's best the best of the first four by `keys` takes.
double loss_of_four(const SettledRace& race, const std::vector<double>& keys) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  double best_s = 1, found_s = 1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double time_s = race.entrants[order[i]].time_s;
    best_s = std::min(best_s, time_s);
    if (i < 4) found_s = std::min(found_s, time_s);
  }
  return found_s / best_s - 1;
}

std::vector<SettledRace> races_of(const std::string& name) {
  const db::Database database = recording(name);
  return settled_races(database, KnownTemplates(Catalogue()), db::list_sessions(database));
}

TEST(SettledClocks, ARaceHasWhatItsEntrantsWereScreenedWith) {
  const auto races = races_of("bf16-settled");
  ASSERT_THAT(races, SizeIs(2));
  for (const SettledRace& race : races) {
    ASSERT_THAT(race.entrants, SizeIs(20));
    for (const SettledRace::Entrant& entrant : race.entrants) {
      EXPECT_NEAR(entrant.screened_cycles / (entrant.time_s * entrant.clock_hz), 1, 0.05) << entrant.variant.id();
      EXPECT_GT(entrant.screened_s, 0);
    }
    const auto known = clock_experiences(race, KnownTemplates(Catalogue()), 0);
    ASSERT_THAT(known, SizeIs(1));
    EXPECT_EQ(*std::min_element(known.front().log_times.begin(), known.front().log_times.end()), 0);
  }
}

TEST(SettledClocks, ShortSamplesSayNothing) { EXPECT_THAT(races_of("tf32"), SizeIs(0)); }

/// What learnt clocks are for, as far as a test can hold it.
TEST(SettledClocks, OfAnotherShapeOrderARaceBetterThanCyclesDo) {
  std::vector<SettledRace> races;
  for (const char* name : {"bf16-settled", "e4m3-settled", "tf32-settled"}) {
    for (SettledRace& race : races_of(name)) races.push_back(std::move(race));
  }
  ASSERT_THAT(races, SizeIs(6));
  double by_cycles = 0, by_expectation = 0;
  for (const SettledRace& race : races) {
    std::vector<search::Experience> others;
    for (std::size_t i = 0; i < races.size(); ++i) {
      if (shape_of(races[i].problem) == shape_of(race.problem)) continue;
      for (auto& own : clock_experiences(races[i], KnownTemplates(Catalogue()), i)) others.push_back(std::move(own));
    }
    std::vector<Variant> variants;
    std::vector<double> cycles;
    for (const SettledRace::Entrant& entrant : race.entrants) {
      variants.push_back(entrant.variant);
      cycles.push_back(entrant.screened_cycles);
    }
    const auto expected = session::expected_settled_times(search::PredictorTrainer(others).fit_all(kModelSeed),
                                                          Catalogue().select("", race.problem), race.problem,
                                                          race.device, variants, cycles);
    ASSERT_TRUE(expected) << expected.error().text();
    by_cycles += loss_of_four(race, cycles);
    by_expectation += loss_of_four(race, *expected);
  }
  EXPECT_LT(by_expectation, by_cycles / 2);
}

}  // namespace
}  // namespace pgtune::tool
