// SPDX-License-Identifier: MIT
// The tables and labelled lines under a table of times: energy, verdict, noise and what else the numbers rest on. Every
// line ends in a newline and has at most 80 columns.
#pragma once

#include <string>

#include "tuner/model/conditions.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/session/answer/answer.hpp"

namespace pgtune::tool {

/// Energy of the ranking and of the baseline, with the Pareto list; empty where none was measured.
[[nodiscard]] std::string energy_table(const Problem& problem, const session::Answer& answer);
/// Verdict, cycles, energy, clocks, noise, regime, sampling, final, notes and ties: one fact each.
[[nodiscard]] std::string answer_facts(const session::Answer& answer, const Conditions& conditions);

}  // namespace pgtune::tool
