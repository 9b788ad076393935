// SPDX-License-Identifier: MIT
// The verdict that a measured ratio allows.
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "tuner/stats/paired.hpp"

namespace pgtune::stats {

enum class Verdict {
  kFaster,              ///< in time and in cycles
  kFasterThroughPower,  ///< in time, but not in cycles: its clock ran higher in the same power budget
  kTie,                 ///< the interval lies within the margin
  kSlower,
  kUnclear,  ///< the interval is too wide to say
};

/// "faster", "faster through power", "tie", "slower", "unclear".
[[nodiscard]] std::string_view to_string(Verdict verdict);
/// All verdicts with their words.
[[nodiscard]] std::span<const std::pair<Verdict, std::string_view>> enum_table(Verdict of);

/// `time` and `cycles` are ln(baseline / contender), of times and of times multiplied with the measured clock.
/// `margin` is the smallest ratio worth telling apart (0.003: 0.3 %); ties are judged first, so that a difference
/// inside the margin is a tie however exactly it is known. Without pairs: unclear. Where no clock was measured (cycles
/// has no pairs) a faster time is "faster".
[[nodiscard]] Verdict verdict(const LogRatio& time, const LogRatio& cycles, double margin);

/// Half the width of the interval, in log units: the noise floor where both contenders are the same.
[[nodiscard]] double half_width(const LogRatio& ratio);

}  // namespace pgtune::stats
