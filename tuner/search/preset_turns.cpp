// SPDX-License-Identifier: MIT
#include "tuner/search/preset_turns.hpp"

#include <algorithm>

namespace pgtune::search {

bool PresetTurns::is_presets_turn() const {
  if (in_preset_.empty() || made_ < kFirst) return true;
  const auto& [others, presets] = sides_;
  const bool known = others.timed >= kLeast && presets.timed >= kLeast;
  if (known && others.fastest > presets.fastest + kBehind) return made_ % kSeldom != kSeldom - 1;
  if (known && presets.fastest > others.fastest + kBehind) return made_ % kSeldom == kSeldom - 1;
  return made_ % 2 == 0;
}

void PresetTurns::report(std::size_t index, double log_time) {
  Side& own = sides_[in_preset(index) ? 1 : 0];
  ++own.timed;
  own.fastest = std::min(own.fastest, log_time);
}

}  // namespace pgtune::search
