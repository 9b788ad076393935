// SPDX-License-Identifier: MIT
// Which recorded sample answers for a place in a replayed round.
#pragma once

#include <optional>
#include <vector>

#include "tuner/model/records.hpp"

namespace pgtune::device {

/// A contender's place in a round that is asked for.
struct RoundPlace {
  Stage stage = Stage::kFinal;
  int round = 1;
  int occurrence = 0;  ///< how many earlier positions of this round the same contender has
};

/// The sample that was recorded in just this stage and round; of a round that has several (the floor), the one in the
/// same order of positions. Nothing where there is none: what another stage or round has is no answer, because a GPU
/// is cooler or its clock another one there.
[[nodiscard]] std::optional<Sample> recorded_sample(const std::vector<Sample>& recorded, const RoundPlace& place);

}  // namespace pgtune::device
