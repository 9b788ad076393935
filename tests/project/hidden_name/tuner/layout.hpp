// SPDX-License-Identifier: MIT
#pragma once

namespace pgtune {

inline constexpr int kMaxRank = 4;

}  // namespace pgtune
