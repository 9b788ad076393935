// SPDX-License-Identifier: MIT
#include "tuner/session/answer/neighbours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tuner/stats/interval.hpp"

namespace pgtune::session {
namespace {

constexpr double kSmallest = 0.01, kConfidence = 0.999;
constexpr int kFewestDegrees = 8;  ///< of freedom; below, scatter is not known well enough

struct Group {
  double count = 0, busy = 0, log_clock = 0;  ///< sums until they are divided
};

/// Sums of squares and products of what deviates from the groups' means.
struct Deviations {
  double busy = 0, both = 0, clock = 0;
};

}  // namespace

std::optional<NeighbourShift> neighbour_shift(const std::vector<ClockBeside>& clocks) {
  std::map<int, Group> groups;
  for (const ClockBeside& sample : clocks) {
    Group& group = groups[sample.group];
    group.count += 1;
    group.busy += sample.busy;
    group.log_clock += std::log(sample.sm_clock_hz);
  }
  const int degrees = static_cast<int>(clocks.size()) - static_cast<int>(groups.size()) - 1;
  if (degrees < kFewestDegrees) return std::nullopt;

  Deviations sums;
  for (const ClockBeside& sample : clocks) {
    const Group& group = groups[sample.group];
    const double busy = sample.busy - group.busy / group.count;
    const double clock = std::log(sample.sm_clock_hz) - group.log_clock / group.count;
    sums.busy += busy * busy;
    sums.both += busy * clock;
    sums.clock += clock * clock;
  }
  if (sums.busy <= 0) return std::nullopt;  // the others were as many all the time
  const double slope = sums.both / sums.busy;
  const double scatter = std::max(sums.clock - slope * sums.both, 0.0) / degrees;
  const double chance = stats::student_t(kConfidence, degrees) * std::sqrt(scatter / sums.busy);

  const auto [fewest, most] = std::minmax_element(
      clocks.begin(), clocks.end(), [](const ClockBeside& a, const ClockBeside& b) { return a.busy < b.busy; });
  const NeighbourShift shift{fewest->busy, most->busy, std::expm1(slope * (most->busy - fewest->busy))};
  if (shift.relative > -kSmallest || -slope <= chance) return std::nullopt;
  return shift;
}

std::vector<std::string> neighbour_notes(const std::vector<ClockBeside>& clocks) {
  const auto shift = neighbour_shift(clocks);
  if (!shift) return {};
  return {fmt::format(
      "the baseline's clock on this GPU was {:.1f} % lower while {} other GPU{} of the machine worked than while "
      "{} did: they seem to share power or heat. Times depend on that, ratios do not",
      -100 * shift->relative, shift->most, shift->most == 1 ? "" : "s",
      shift->fewest == 0 ? std::string("none") : std::to_string(shift->fewest))};
}

}  // namespace pgtune::session
