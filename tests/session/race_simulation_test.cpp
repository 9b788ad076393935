// SPDX-License-Identifier: MIT
// Races over made-up measurements of which the truth is known: the cut never loses the best.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "tuner/session/rounds/race_cut.hpp"

namespace pgtune::session {
namespace {

constexpr std::size_t kVariants = 200, kFinalists = 8, kRounds = 16;
constexpr double kNoiseMargin = 0.003;

/// Samples as an H200 gives them: 0.2 % of noise, a few outliers, a clock that wanders from round to round.
class Measurements {
 public:
  explicit Measurements(std::uint64_t seed) : random_(seed) {
    for (std::size_t i = 0; i < kVariants; ++i) {
      // A dozen are inside the tie margin, forty inside the entry margin.
      truth_.push_back(1 + 0.3 * std::pow(static_cast<double>(i) / kVariants, 1.5));
      const double bias = 0.002 * normal();  // screening and later stages differ by up to 0.4 %
      SampleTimes samples;
      for (int sample = 0; sample < 3; ++sample) samples.push_back(truth_[i] * (1 + bias) * sample_noise());
      screening_.push_back(samples);
    }
  }

  [[nodiscard]] const std::vector<SampleTimes>& screening() const { return screening_; }
  [[nodiscard]] double truth(std::size_t variant) const { return truth_[variant]; }
  void next_round() { level_ *= 1 + 0.01 * normal(); }
  [[nodiscard]] double sample(std::size_t variant) { return truth_[variant] * level_ * sample_noise(); }

 private:
  double uniform() { return (static_cast<double>(random_() >> 11U) + 0.5) * 0x1p-53; }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()); }
  double sample_noise() { return (1 + 0.002 * normal()) * (uniform() < 0.02 ? 1 + 0.05 * uniform() : 1); }

  std::mt19937_64 random_;
  std::vector<double> truth_;
  std::vector<SampleTimes> screening_;
  double level_ = 1;
};

struct Race {
  std::vector<std::size_t> finalists;
  std::size_t entrants = 0, samples = 0;
};

Race race(Measurements& measurements) {
  Race out;
  auto variants = race_entrants(measurements.screening(), kNoiseMargin);
  out.entrants = variants.size();
  std::vector<SampleTimes> times(variants.size());
  for (std::size_t round = 0; round < kRounds && (round < kFirstCut || variants.size() > kFinalists); ++round) {
    measurements.next_round();
    for (std::size_t i = 0; i < variants.size(); ++i) times[i].push_back(measurements.sample(variants[i]));
    out.samples += variants.size();
    std::vector<bool> leaves(variants.size());
    for (const std::size_t i : race_cut(times, {kNoiseMargin, kFinalists, planned_race_looks(kRounds)}))
      leaves[i] = true;
    for (std::size_t i = variants.size(); i-- > 0;) {
      if (!leaves[i]) continue;
      variants.erase(variants.begin() + static_cast<std::ptrdiff_t>(i));
      times.erase(times.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  for (const std::size_t i : race_order(times)) {
    if (out.finalists.size() < kFinalists) out.finalists.push_back(variants[i]);
  }
  return out;
}

TEST(RaceSimulation, OneWithinTheMarginOfTheTrueBestAlwaysReachesTheFinal) {
  constexpr int kSeeds = 300;
  int exact = 0;
  double samples = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    Measurements measurements(static_cast<std::uint64_t>(seed));
    const Race raced = race(measurements);
    ASSERT_EQ(raced.finalists.size(), kFinalists);
    double best = 2;
    for (const std::size_t variant : raced.finalists) best = std::min(best, measurements.truth(variant));
    EXPECT_LE(best, 1 + kNoiseMargin) << "seed " << seed;
    exact += best == 1 ? 1 : 0;
    samples += static_cast<double>(raced.samples);
  }
  EXPECT_GE(exact, kSeeds * 95 / 100) << "finals with the true best itself";
  EXPECT_LT(samples / kSeeds, kVariants * kRounds / 8.0) << "samples of a race, on average";
}

}  // namespace
}  // namespace pgtune::session
