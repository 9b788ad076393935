// SPDX-License-Identifier: MIT
// How the samples that results are made of were taken.
#pragma once

#include "tuner/util/named_enum.hpp"

namespace pgtune {

enum class Sampling {
  kShort,    ///< below the power cap, or in the burst regime: a short sample shows the contender's own clock
  kSettled,  ///< at the cap: each sample began once its contender's clock no longer moved
};
/// "short", "settled".
[[nodiscard]] EnumTable<Sampling> enum_table(Sampling sampling);

/// Least lead-in of a settled sample after a pause of the GPU, for which an idle one saves up under the power cap
/// (docs/explanation/measuring.md).
inline constexpr double kLeadInAfterIdling_s = 2;

/// Lengths of a round's samples.
struct SampleTiming {
  double sample_s = 0;  ///< what is timed
  double settle_s = 0;  ///< least lead-in of a settled sample; 0: a short, fixed one
};

}  // namespace pgtune
