// SPDX-License-Identifier: MIT
// Which recorded block answers for a place in a replayed round.
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

/// The recorded block for a place, of the first stage of these that was recorded: the one asked for; then the other of
/// race and final, the final first (its blocks are longer) for a floor; then `screening`. Within the stage asked for,
/// the block of the same round; of a round that has several (the floor), the one in the same order of positions. Beyond
/// the recorded rounds they start again. In another stage, block `round` (counted from 1) of that stage, modulo their
/// number, moved on by `occurrence`: a floor's two blocks of a round are then neighbouring rounds of the final. Nothing
/// where no block was recorded at all.
[[nodiscard]] std::optional<Block> recorded_block(const std::vector<Block>& rounds, const std::vector<Block>& screening,
                                                  const RoundPlace& place);

}  // namespace pgtune::device
