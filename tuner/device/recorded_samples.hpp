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

/// The recorded sample for a place, of the first stage of these that was recorded: the one asked for; then the other of
/// race and final, the final first (its samples are longer) for a floor; then `screening`. Within the stage asked for,
/// the sample of the same round; of a round that has several (the floor), the one in the same order of positions.
/// Beyond the recorded rounds they start again. In another stage, sample `round` (counted from 1) of that stage, modulo
/// their number, moved on by `occurrence`: a floor's two samples of a round are then neighbouring rounds of the final.
/// Nothing where no sample was recorded at all.
[[nodiscard]] std::optional<Sample> recorded_sample(const std::vector<Sample>& rounds,
                                                    const std::vector<Sample>& screening, const RoundPlace& place);

}  // namespace pgtune::device
