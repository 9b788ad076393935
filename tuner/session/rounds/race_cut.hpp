// SPDX-License-Identifier: MIT
// Which variants race, and when one leaves the race: pure decisions over sample times.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace pgtune::session {

/// Per launch and in seconds, of one variant: its screening samples, or its race's samples in the order of rounds.
using SampleTimes = std::vector<double>;

/// Rounds before a variant leaves, and before an interval decides.
inline constexpr std::size_t kFirstCut = 3, kIntervalCut = 6;

struct RaceRules {
  double margin = 0.003;      ///< differences inside it are ties
  std::size_t finalists = 8;  ///< the race never leaves fewer
  int looks = 1;              ///< how often intervals are looked at in the whole race, at most: planned_race_looks()
};

/// From kIntervalCut rounds on every round is a look. At least 1.
[[nodiscard]] int planned_race_looks(int race_rounds);

/// How much slower than the best a variant may have been screened to enter: screening has few and short samples, and
/// its cut must not depend on their noise. The largest of 3 %, ten tie margins, and four times the 90th percentile of
/// the range over a variant's own samples among those within 30 % of the best; at most 20 %, because at the power cap,
/// where the ties are wide, variants slow down by 5 to 21 % from screening to final (bf16 4096^3 on an H200). Every
/// element has a sample.
[[nodiscard]] double entry_margin(std::span<const SampleTimes> screening, double tie_margin);

/// Indices of those inside the entry margin of the lowest median, the fastest first, at most 96.
[[nodiscard]] std::vector<std::size_t> race_entrants(std::span<const SampleTimes> screening, double tie_margin);

/// A key for each of the screened variants, by index; the least comes first; 0: unknown, and the variant is skipped.
using RaceKeys = std::vector<double>;

/// The race at the power cap: indices of at most `most`, in turns the fastest of race_entrants() with `tie_margin` and
/// the least of each of `keys`. A screened time there holds for the clock that the moment gave, which changes by a
/// tenth in a search; cycles repeat to half a percent, but do not know joules; and what other searches let expect of
/// both is right about what they have seen. Each has found winners that the others ranked low.
[[nodiscard]] std::vector<std::size_t> settled_entrants(std::span<const SampleTimes> screening,
                                                        std::span<const RaceKeys> keys, double tie_margin,
                                                        std::size_t most);

/// Indices of survivors by median time, the fastest first. Each time is taken relative to its round's median over the
/// survivors, so that clocks drifting from round to round cancel. All elements have the same rounds, at least one.
[[nodiscard]] std::vector<std::size_t> race_order(std::span<const SampleTimes> survivors);

/// Indices of the survivors that leave after the rounds so far, the slowest first; never more than leaves
/// `rules.finalists`. The incumbent is the first by race_order. From kFirstCut rounds on leaves who was slower than it
/// by more than two margins in every round; from kIntervalCut on also whose interval of the paired log ratio to it lies
/// beyond one margin; it holds with 95 % over all looks of the race. All elements have the same rounds.
[[nodiscard]] std::vector<std::size_t> race_cut(std::span<const SampleTimes> survivors, const RaceRules& rules);

}  // namespace pgtune::session
