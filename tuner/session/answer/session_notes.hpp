// SPDX-License-Identifier: MIT
// What a reader has to know to judge a session's numbers: one sentence each. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/model/clock_beside.hpp"
#include "tuner/model/conditions.hpp"
#include "tuner/model/gpu_process.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::session {

/// The baseline does less than the problem asks for, or more.
[[nodiscard]] std::vector<std::string> baseline_notes(const Problem& problem, const BaselineReport& baseline);

/// Limits of an operation's check: there was no null test, or an output's bound is a tolerance without derivation.
/// Nothing for GEMM, which has a derived bound.
[[nodiscard]] std::vector<std::string> check_notes(const Problem& problem);

/// Data that is no evidence for real data.
[[nodiscard]] std::vector<std::string> data_notes(const Conditions& conditions);

/// The baseline's clock moved more than 3 % over all its samples of the session, the outermost 5 % on both sides left
/// out.
[[nodiscard]] std::vector<std::string> clock_notes(const Conditions& conditions,
                                                   const std::vector<Sample>& baseline_samples);

/// The power cap held the clocks down for more than a twentieth of the final's time: for which share of it, by the sum
/// over the samples, because the driver's counter steps every tenth of a second and says nothing of a short one.
[[nodiscard]] std::vector<std::string> power_notes(const std::vector<Sample>& final_samples);

/// Which share of them are of launches in CUDA graphs; 0 of none.
[[nodiscard]] double share_in_graphs(const std::vector<Sample>& samples);

/// Launches of the one came in CUDA graphs and those of the other one by one, which no version since 0.2.0 compares.
/// Of the rounds that ratios come from: the winner's samples, and those of the baseline that it is compared with.
[[nodiscard]] std::vector<std::string> launch_notes(const std::vector<Sample>& winner,
                                                    const std::vector<Sample>& baseline);

/// Other processes that computed on the GPU at the session's start and at its end: times are not to be trusted then.
[[nodiscard]] std::vector<std::string> shared_gpu_notes(const OtherProcesses& at_start, const OtherProcesses& at_end);

struct NeighbourShift {
  int fewest = 0, most = 0;  ///< other GPUs at work
  double relative = 0;       ///< clock with `most` against that with `fewest`, less one: -0.02 is 2 % lower
};

/// How the clock moved with the others that were at work. A straight line through the logarithm of the clock over their
/// number, within the groups (each has a level of its own, so that a problem that draws more power is no evidence), and
/// something only where the others cannot be ruled out as its cause: the clock is lower beside more of them, by 1 % at
/// least, and by more than 99.9 % intervals leave to chance (samples in a row are not independent, hence no 95 %).
/// Pure.
[[nodiscard]] std::optional<NeighbourShift> neighbour_shift(const std::vector<ClockBeside>& clocks);

/// The same as a sentence.
[[nodiscard]] std::vector<std::string> neighbour_notes(const std::vector<ClockBeside>& clocks);

}  // namespace pgtune::session
