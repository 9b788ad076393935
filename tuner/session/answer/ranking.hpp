// SPDX-License-Identifier: MIT
// From measured blocks to an answer: medians, paired ratios to the reference, ties, the winner. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/session/store.hpp"

namespace pgtune::session {

/// A contender's variant with the blocks it has.
struct MeasuredVariant {
  Variant variant;
  BuildInfo build;
  std::int64_t smem_bytes = 0;  ///< static and dynamic, of one CTA
  std::vector<Block> blocks;
};

struct MeasuredReference {
  int algorithm = 0;  ///< index into ReferenceReport::algorithms
  std::vector<Block> blocks;
};

struct Ranking {
  BestRecord best;
  std::vector<RankedVariant> ranked;  ///< the winner, then the others by median
};

/// The references of a final, and by what its contenders are told apart.
struct Yardstick {
  std::vector<MeasuredReference> references;
  int first_algorithm = 0;  ///< ReferenceReport::first
  double margin = 0.003;    ///< NoiseFloor::margin: differences inside it are ties
  std::uint64_t seed = 1;   ///< of the intervals' bootstrap
};

/// Ranks a final. Ratios are to the reference algorithm with the lowest median, paired by Block::round (0 where there
/// is no pair). A tie with the fastest: the interval of the paired log ratio contains 0 or lies within the margin. That
/// interval is widened to a confidence of 1 - 0.05 / k for k variants, as k comparisons are made at once. The winner is
/// the fastest or a tie whose median ratio is within the margin of it: the one with fewer shared-memory bytes, then
/// fewer registers, then the lower key. Precondition: at least one variant, each with a block.
[[nodiscard]] Ranking rank_final(const Problem& problem, const std::vector<MeasuredVariant>& variants,
                                 const Yardstick& yardstick);

/// The record of one of a final's variants, as if it had won; without ties.
[[nodiscard]] BestRecord best_record(const Problem& problem, const MeasuredVariant& variant,
                                     const Yardstick& yardstick);

/// Ranks by screening alone, for a search that was interrupted before its final: no ties, ratios are to the reference's
/// screening time, their "intervals" the range over the blocks. Precondition as above.
[[nodiscard]] Ranking rank_screening(const Problem& problem, const std::vector<MeasuredVariant>& variants,
                                     const ReferenceReport& reference);

}  // namespace pgtune::session
