// SPDX-License-Identifier: MIT
// From what was measured at some M to kernels for all: times are predicted, few kernels are chosen, and each gets the
// intervals where it is about the fastest. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "tuner/model/family.hpp"

namespace pgtune::session {

/// What is known of one variant: the cycles of a launch, and how long a cycle takes at the power cap.
struct Measured {
  std::map<std::int64_t, double> cycles;            ///< by M, as screened
  std::map<std::int64_t, double> seconds_of_cycle;  ///< by M: of settled samples; empty: never settled
  std::map<std::int64_t, double> time_s = {};       ///< by M: of a launch, as screened
};

/// Cycles of a launch at `m`, from the nearest M where it was measured, times the ratio of costs: on a logarithmic
/// scale, of two as near the larger. Nothing where none was. `cost`: of this variant at any M, 0 if unknown.
template <typename Cost>
[[nodiscard]] std::optional<double> predicted_cycles(const Measured& variant, std::int64_t m, const Cost& cost);

/// The value at `m`, interpolated by log M between the M where one is known; beyond the outermost it stays.
/// Precondition: one is known.
[[nodiscard]] double interpolated(const std::map<std::int64_t, double>& known, std::int64_t m);

/// times[kernel][class]: seconds of a launch at the class's last M; nothing where the kernel cannot serve the class.
using TimeTable = std::vector<std::vector<std::optional<double>>>;

/// Of one kernel: a launch of fewer rows is expected to take no longer. Each time that was not `measured` becomes at
/// most that of the next class with one, and so a class that it `serves` gets a time where none is known. What was
/// measured stays: a cluster whose rows end in its first block does take longer.
void bound_by_larger_classes(std::vector<std::optional<double>>& times, const std::vector<bool>& serves,
                             const std::vector<bool>& measured);

/// A class's share of the range by log M: first and last M of each class follow from `tops`.
[[nodiscard]] std::vector<double> class_weights(std::int64_t first, std::span<const std::int64_t> tops);

/// At most `most` kernels of the table with the least mean loss, where a class's loss is how much longer its fastest
/// chosen kernel takes than the fastest of all, and losses beyond kBearable count ten times. One kernel after another
/// is added, the one that saves most, until none saves kLeastGain; then single ones are exchanged while that helps,
/// and left out that save less.
/// Every class that has a kernel in the table gets one, if `most` allow. Ascending.
[[nodiscard]] std::vector<std::size_t> choose_kernels(const TimeTable& times, std::span<const double> weights,
                                                      std::size_t most);
inline constexpr double kBearable = 0.02, kLeastGain = 0.0003;

/// Consecutive classes with one kernel. Indices are those of the table.
struct CoverInterval {
  std::size_t last_class = 0, kernel = 0;
  std::optional<std::size_t> spare = {};
};

/// The fewest intervals in which every class's kernel takes at most kTolerated longer than the fastest of `chosen`. The
/// spare is the fastest of the others that serves all of the interval. Errors (usage): a class without a kernel.
[[nodiscard]] Result<std::vector<CoverInterval>> cover(const TimeTable& times, std::span<const std::size_t> chosen);
inline constexpr double kTolerated = 0.01;

template <typename Cost>
std::optional<double> predicted_cycles(const Measured& variant, std::int64_t m, const Cost& cost) {
  const auto above = variant.cycles.lower_bound(m);
  auto nearest = above;
  if (above == variant.cycles.end() || (above != variant.cycles.begin() && above->first != m)) {
    if (above == variant.cycles.begin()) return std::nullopt;
    const auto below = std::prev(above);
    // m / below < above / m: nearer below on a logarithmic scale.
    if (above == variant.cycles.end() || static_cast<double>(m) * static_cast<double>(m) <
                                             static_cast<double>(above->first) * static_cast<double>(below->first))
      nearest = below;
  }
  if (nearest->first == m) return nearest->second;
  const double there = cost(nearest->first), here = cost(m);
  return there > 0 && here > 0 ? nearest->second * here / there : nearest->second;
}

}  // namespace pgtune::session
