// SPDX-License-Identifier: MIT
// Whether GPUs of one machine slow each other down: told from the baseline's clocks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/model/clock_beside.hpp"

namespace pgtune::session {

struct NeighbourShift {
  int fewest = 0, most = 0;  ///< other GPUs at work
  double relative = 0;       ///< clock with `most` against that with `fewest`, less one: -0.02 is 2 % lower
};

/// How the clock moved with the others that were at work. A straight line through the logarithm of the clock over their
/// number, within the groups (each has a level of its own, so that a problem that draws more power is no evidence), and
/// something only where the others cannot be ruled out as its cause: the clock is lower beside more of them, by 1 % at
/// least, and by more than 99.9 % intervals leave to chance (samples in a row are not independent, hence no 95 %).
/// Pure.
[[nodiscard]] std::optional<NeighbourShift> neighbour_shift(const std::vector<ClockBeside>& clocks);

[[nodiscard]] std::vector<std::string> neighbour_notes(const std::vector<ClockBeside>& clocks);

}  // namespace pgtune::session
