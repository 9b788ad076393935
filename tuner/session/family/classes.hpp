// SPDX-License-Identifier: MIT
// Which M of a family have to be measured. M fall into classes, for all M of which the fastest kernel is expected to
// take about as long. Pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tuner/model/family.hpp"
#include "tuner/space/variant_facts.hpp"

namespace pgtune::session {

/// Facts of the same variants at any M of a range; called from several threads.
using FactsAt = std::function<std::vector<space::VariantFacts>(std::int64_t m)>;

/// Where some class of first..last ends in any case, ascending: 1, 2, 4, multiples of 8 up to 256, of 16 up to 512, of
/// 64 up to 4096 and of twice as many for each octave above; and at `last`.
[[nodiscard]] std::vector<std::int64_t> class_grid(std::int64_t first, std::int64_t last);

/// The last M of each class of first..last, ascending: class_grid(), and multiples of 8 where the cheapest of the given
/// variants that have a cost costs less, by more than kSameCost, than at the end of the class above: there a wave of
/// tiles ends. Above 4096 fewer M are looked at, eight in each class of the grid.
[[nodiscard]] std::vector<std::int64_t> class_tops(std::int64_t first, std::int64_t last, const FactsAt& facts);
inline constexpr double kSameCost = 0.02;

/// The M of first..last-1 after which the legality or build of a variant changes, ascending: it looks at every M.
[[nodiscard]] std::vector<std::int64_t> build_changes(std::int64_t first, std::int64_t last, const FactsAt& facts);

/// Where many variants are measured: first, last, and between them those of 1, 8, 64, 256, 512, 1024, 2048, 8192, and
/// four times as much each, that are not within half again of either.
[[nodiscard]] std::vector<std::int64_t> anchors(std::int64_t first, std::int64_t last);

/// Where kernels get settled samples: the last of `tops` and, going down, each that is at most half of the one before,
/// as long as the power cap is met.
[[nodiscard]] std::vector<std::int64_t> settled_ladder(const std::vector<std::int64_t>& tops,
                                                       const std::function<bool(std::int64_t m)>& meets_cap);

/// `count` M of first..last in the order in which they are drawn, or fewer if there are not as many. None is in `used`,
/// which ascends. Each is log-uniform. No two lie in the same one of 2^n >= `count` equal parts of the logarithmic
/// scale, as far as those have M. `seed` decides; a larger count adds to the same M.
[[nodiscard]] std::vector<std::int64_t> draw_probes(std::int64_t first, std::int64_t last, std::size_t count,
                                                    std::span<const std::int64_t> used, std::uint64_t seed);

/// M of a family of one order at which rows are compared bit for bit, ascending, the largest among them: all, or where
/// that is expected to take longer than kComparing_s, those up to kFirstCompared, those beside the ends of intervals,
/// and as many drawn ones as there is time for.
[[nodiscard]] std::vector<std::int64_t> draw_compared(const Family& family, std::uint64_t seed);
inline constexpr std::int64_t kFirstCompared = 256;
inline constexpr double kComparing_s = 20;
inline constexpr double kComparison_s = 1.2e-3;  ///< of one M beside the launch, on an H200

}  // namespace pgtune::session
