// SPDX-License-Identifier: MIT
// The contest for the winner of a session: finalists, what race, final and confirm rounds measured of them, and the
// ranking that follows. A variant that fails in a step leaves, and the others are ranked anew. The session decides the
// order of the steps.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tuner/session/findings.hpp"
#include "tuner/session/rounds/final.hpp"
#include "tuner/session/rounds/verification.hpp"

namespace pgtune::session {

class Contest {
 public:
  /// Both must outlive it.
  Contest(RoundContext& rounds, Findings& found) : rounds_(rounds), found_(found), verification_(rounds) {}

  /// Plans final and confirm rounds for the sampling of the answer. `most_finalists`: replaces the number of the plan.
  void plan(std::optional<int> most_finalists = {});
  [[nodiscard]] Result<void> race();
  /// Runs the final, without ranking it. False: no variant lived through it.
  [[nodiscard]] Result<bool> final();
  /// Whether short samples follow each other at a clock under the power cap, which the previous contender determined.
  /// In the burst regime a sample's clock follows from the rest before it.
  [[nodiscard]] bool is_short_at_cap() const;
  /// Ranks the final, by the rounds that were run where it was interrupted. Precondition: final() was true.
  void rank_finalists();
  /// The final only chose, and the answer's best was not measured again.
  [[nodiscard]] bool is_unconfirmed() const { return plan_.confirms && !is_confirmed(); }
  /// Measures the answer's best again, with its nearest rival and the baseline, and ranks anew. Where the rival is best
  /// then, a note says so. Errors: also a baseline that failed in every round.
  [[nodiscard]] Result<void> confirm();
  /// Verifies the ranking until a variant fails. True: the whole ranking passed.
  [[nodiscard]] Result<bool> verify();

  enum class EnergyOf { kWinner, kEveryFinalist };
  /// Energy after a whole final, and the order by the objective where that is one of energy. What fails here becomes a
  /// note: the final's times stand.
  void measure_energy(EnergyOf whose);

  /// Ranks by screening where there was no final to rank by.
  void rank_screened();
  /// The variants of the state at `indices` ranked by screening.
  [[nodiscard]] std::vector<RankedVariant> ranked_by_screening(const std::vector<std::size_t>& indices) const;

  /// For Findings::finish().
  [[nodiscard]] std::vector<Sample> winner_samples() const;
  [[nodiscard]] std::vector<Sample> compared_samples() const;

 private:
  [[nodiscard]] bool is_confirmed() const;
  /// What races beside the variants: the baseline's algorithms, or with options.only_chooses none.
  [[nodiscard]] const BaselineReport& opponents() const;
  /// The rounds that the answer's figures come from.
  [[nodiscard]] const std::vector<RoundEntry>& last_field() const;
  void rank();
  void leave_out(const Variant& variant);
  void rank_what_is_left();
  void note_change(const Variant& chosen);
  [[nodiscard]] std::vector<MeasuredVariant> screened(const std::vector<std::size_t>& indices) const;

  RoundContext& rounds_;
  Findings& found_;
  FinalPlan plan_;
  std::vector<std::size_t> raced_;  ///< into the state: survivors of the race, fastest first
  std::vector<int> algorithms_;     ///< of the baseline, by the race or by screening, fastest first
  FinalResult final_;
  FinalResult confirm_;  ///< the last confirm rounds
  Verification verification_;
};

}  // namespace pgtune::session
