// SPDX-License-Identifier: MIT
// What a session gathers beside its ranking: the sentences and the samples a reader needs to judge the numbers by.
// Shared by search and bench.
#pragma once

#include <string>
#include <vector>

#include "tuner/session/energy_stage.hpp"
#include "tuner/session/rounds/noise_floor.hpp"
#include "tuner/session/rounds/rounds.hpp"

namespace pgtune::session {

class Evidence {
 public:
  /// Of all rounds of the session.
  [[nodiscard]] RoundTroubles& troubles() { return troubles_; }

  void add_notes(std::vector<std::string> notes);
  void take(const FloorResult& floor);
  /// What the rounds of a final or after it measured. `best_algorithm`: BaselineReport::best, which floor and race have
  /// measured as well.
  void take_final_samples(const std::vector<RoundEntry>& field, int best_algorithm);
  void take_baseline_samples(const std::vector<Sample>& samples);
  /// The samples of rounds that are made again.
  void drop_samples();

  [[nodiscard]] const std::vector<Sample>& final_samples() const { return final_samples_; }

  /// Everything noted, then what the problem, its baseline, the conditions, the samples and the rounds' troubles say.
  [[nodiscard]] std::vector<std::string> notes(const Problem& problem, const BaselineReport& baseline,
                                               const Conditions& conditions) const;

 private:
  RoundTroubles troubles_;
  std::vector<Sample> baseline_samples_, final_samples_;
  std::vector<std::string> notes_;
};

}  // namespace pgtune::session
