// SPDX-License-Identifier: MIT
// From measured samples to an answer: medians, paired ratios to the baseline, ties, the winner. Pure functions.
#pragma once

#include <vector>

#include "tuner/model/problem.hpp"
#include "tuner/session/answer.hpp"
#include "tuner/session/rounds/rounds.hpp"

namespace pgtune::session {

/// The baselines of a final, and by what its contenders are told apart.
struct RankingBasis {
  std::vector<MeasuredBaseline> baselines;
  int first_algorithm = 0;  ///< BaselineReport::first
  double margin = 0.003;    ///< NoiseFloor::margin: differences inside it are ties
  int looks = 1;            ///< planned_final_looks(): as often might the final have ended
};

/// Ranks a final: sets the answer's ranking, ties and baseline figures, and nothing else of it. Ratios are to the
/// baseline algorithm with the lowest median, paired by Sample::round (0 where there is no pair). A tie with the
/// fastest: the interval of the paired log ratio contains 0 or lies within the margin. That interval is widened to a
/// confidence of 1 - 0.05 / k for k variants, as k comparisons are made at once. All intervals hold over basis.looks.
/// The winner is the fastest or a tie whose mean ratio is within the margin of it: the one with fewer shared-memory
/// bytes, then fewer registers, then the lower key. In fewer rounds than an interval needs it is the fastest, there are
/// no verdicts, and a variant that the mean shows inside kConfirmReach of it is not told apart from it: a tie.
/// Precondition: at least one variant, each with a sample.
void rank_final(const Problem& problem, const std::vector<MeasuredVariant>& variants, const RankingBasis& basis,
                Answer& answer);

/// After rank_final(): sets the figures of the winner, and of its runner-up where that is among `variants`, and those
/// of the baseline by confirm rounds, in which they were measured anew. The winner stays the one that the final chose,
/// unless the runner-up is faster here by more than the margin in the mean, or certainly faster and perhaps by more
/// than the margin: then that is declared. As it may be, its intervals hold with the confidence for two. Ties among
/// those measured here are judged anew, and those that only the final measured stay. A first choice that is not in
/// these rounds keeps its time of the final. Sets Answer::confirm_rounds. Precondition: the answer's best is among
/// `variants`, each of which is in its ranking, and each of these and of the baselines has a sample.
void rank_confirmed(const Problem& problem, const std::vector<MeasuredVariant>& variants, const RankingBasis& basis,
                    Answer& answer);

/// Ranks by screening alone, for a search that was interrupted before its final: no ties, ratios are to the baseline's
/// screening time, their "intervals" the range over the samples. Sets the same, under the same precondition.
void rank_screening(const Problem& problem, const std::vector<MeasuredVariant>& variants,
                    const BaselineReport& baseline, Answer& answer);

}  // namespace pgtune::session
