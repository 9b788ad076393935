// SPDX-License-Identifier: MIT
// What a reader has to know to judge a session's numbers: one sentence each. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "tuner/model/conditions.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::session {

/// The reference does less than the problem asks for, or more.
[[nodiscard]] std::vector<std::string> reference_notes(const Problem& problem, const ReferenceReport& reference);

/// Data that is no evidence for real data.
[[nodiscard]] std::vector<std::string> data_notes(const Conditions& conditions);

/// The reference's clock moved more than 3 % over all its blocks of the session, the outermost 5 % on both sides left
/// out.
[[nodiscard]] std::vector<std::string> clock_notes(const Conditions& conditions,
                                                   const std::vector<Block>& reference_blocks);

/// The power cap held the clocks down during the final: for which share of its blocks. A block counts when the cap held
/// for more than half of its time.
[[nodiscard]] std::vector<std::string> power_notes(const std::vector<Block>& final_blocks);

}  // namespace pgtune::session
