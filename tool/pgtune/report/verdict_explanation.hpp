// SPDX-License-Identifier: MIT
// How a verdict came about, step by step in whole sentences: what was compared, how exactly it is known, what counts as
// a tie, and which rule of stats::verdict() applied.
#pragma once

#include <string>
#include <vector>

#include "tuner/model/conditions.hpp"
#include "tuner/session/answer/answer.hpp"

namespace pgtune::tool {

/// Each a step; at least one.
[[nodiscard]] std::vector<std::string> explain_verdict(const session::Answer& answer, const Conditions& conditions);

}  // namespace pgtune::tool
