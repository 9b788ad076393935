// SPDX-License-Identifier: MIT
// Whether a stored result is met again when it is measured anew. A pure function.
#pragma once

#include <string>
#include <string_view>

#include "tuner/session/answer.hpp"

namespace pgtune::session {

enum class Held {
  kHeld,
  kFaster,   ///< faster against the baseline than stored
  kSlower,   ///< likewise slower
  kUnclear,  ///< a ratio is missing, or known too roughly
  kNew,      ///< nothing was stored of it
};

/// "held", "faster", "slower", "unclear", "new".
[[nodiscard]] std::string_view to_string(Held held);

struct HeldReport {
  Held held = Held::kUnclear;
  std::string sentence;  ///< for people, with both ratios and intervals; at most 80 columns
};

/// Compares the ratios to the baseline of the same variant in two sessions. Held: their intervals overlap, or lie no
/// further apart than `margin` (NoiseFloor::margin, the larger of both sessions'). Overlap proves nothing where an
/// interval is wider than ten margins: unclear.
[[nodiscard]] HeldReport held(const RankedVariant& stored, const RankedVariant& measured, double margin);
/// Of a variant that was never measured before.
[[nodiscard]] HeldReport measured_first(const RankedVariant& measured);

}  // namespace pgtune::session
