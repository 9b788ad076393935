// SPDX-License-Identifier: MIT
// What a session gathers beside its ranking: the sentences and the blocks a reader needs to judge the numbers by.
// Shared by search and bench.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/session/energy_stage.hpp"
#include "tuner/session/rounds/final.hpp"
#include "tuner/session/rounds/noise_floor.hpp"

namespace pgtune::session {

class Evidence {
 public:
  /// Of all rounds of the session.
  [[nodiscard]] RoundTroubles& troubles() { return troubles_; }

  void add_notes(std::vector<std::string> notes);
  void take(const FloorResult& floor);
  /// `best_algorithm`: ReferenceReport::best, which floor and race have measured as well.
  void take(const FinalResult& final, int best_algorithm);
  void take_reference_blocks(const std::vector<Block>& blocks);

  /// Everything noted, then what the problem, its reference, the conditions, the blocks and the rounds' troubles say.
  [[nodiscard]] std::vector<std::string> notes(const Problem& problem, const ReferenceReport& reference,
                                               const Conditions& conditions) const;

 private:
  RoundTroubles troubles_;
  std::vector<Block> reference_blocks_, final_blocks_;
  std::vector<std::string> notes_;
};

/// Measures the energy of a final's variants (of `only` where given) and of the reference's best, and
/// puts it into the ranking's rows. Nothing where it could not be measured: `evidence` then says why, and the final's
/// times stand.
[[nodiscard]] std::optional<EnergyResult> measure_final_energy(const Context& context, ProgressReporter& progress,
                                                               const FinalResult& final,
                                                               const ReferenceReport& reference,
                                                               const std::optional<Variant>& only, Ranking& ranking,
                                                               Evidence& evidence);

}  // namespace pgtune::session
