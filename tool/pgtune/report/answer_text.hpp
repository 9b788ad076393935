// SPDX-License-Identifier: MIT
// Statements on a result's ratios, clocks and noise that never claim more than the interval.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tuner/model/conditions.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/session/answer.hpp"
#include "tuner/session/answer/held.hpp"

namespace pgtune::tool {

/// "1.038 to 1.044": rounded outwards, so that the text is never narrower than the interval.
[[nodiscard]] std::string interval_text(double low, double high);
/// The same in percent: "103.8-104.4".
[[nodiscard]] std::string percent_interval_text(double low, double high);
/// "1.040 (1.038-1.044)"; only the ratio if there is no interval.
[[nodiscard]] std::string ratio_text(double ratio, double low, double high);

/// The answer's baseline, without its version: "cuBLASLt".
[[nodiscard]] std::string baseline_name(const session::Answer& answer);
/// "copy beside it, timed alone: 1.234 ms", or why it could not be timed.
[[nodiscard]] std::string beside_text(const OtherBaseline& other);

/// The verdict as one word, for tables and JSON; "none" if the rounds of the final are incomplete.
[[nodiscard]] std::string_view verdict_word(const session::RankedVariant& ranked, bool from_final);

/// The same for narrow tables, in which "faster through power" is "by power".
[[nodiscard]] std::string short_verdict(const session::Answer& answer);
/// The colour of a verdict, and of a comparison with an earlier result.
[[nodiscard]] Style verdict_style(const session::Answer& answer);
[[nodiscard]] Style held_style(session::Held held);

/// "faster: 1.038 to 1.044 times the speed of cuBLASLt's best". `from_final`: false where the rounds of the final are
/// missing, so that nothing can be said.
[[nodiscard]] std::string verdict_text(const session::RankedVariant& best, double margin, bool from_final,
                                       std::string_view baseline = "cuBLASLt");
/// Why time and cycles differ; empty if they agree within the margin or no clock was measured.
[[nodiscard]] std::string cycles_text(const session::RankedVariant& best, double margin,
                                      std::string_view baseline = "cuBLASLt");
/// "the rest of the presets may gain 0.3 %", and where that is less than the baseline is ahead, that it is. `missed`:
/// the share of the time that trying the rest is expected to gain, which simulations within these presets gave.
[[nodiscard]] std::string missed_text(double missed, bool of_presets, const session::Answer& answer);
/// "1755 MHz, cuBLASLt's best at 1740 MHz"; empty if no clock was measured.
[[nodiscard]] std::string clocks_text(const session::Answer& answer);
/// "baseline against itself +-0.08 % (24 rounds); under 0.30 % is a tie".
[[nodiscard]] std::string noise_text(const session::NoiseFloor& floor);

/// How the final was sampled, as a sentence. Empty if the times are not from a whole final.
[[nodiscard]] std::string sampling_text(const session::Answer& answer, const Conditions& conditions);

/// "sustained, L2 rotated, uniform data, clocks observed", with the data's seed if it is not the default.
[[nodiscard]] std::string conditions_text(const Conditions& conditions);

// The tables and labelled lines under a table of times: energy, verdict, noise and further facts on the numbers. Every
// line ends in a newline and has at most 80 columns.

/// Energy of the ranking and of the baseline, with the Pareto list; empty if not measured.
[[nodiscard]] std::string energy_table(const Problem& problem, const session::Answer& answer);
/// Energy of the winner beside the baseline's, and the objective where that is not the time; one fact each.
[[nodiscard]] std::string energy_facts(const session::Answer& answer);
/// Verdict, cycles, clocks, noise, regime, sampling, final, notes and ties: one fact each.
[[nodiscard]] std::string answer_facts(const session::Answer& answer, const Conditions& conditions);

// Results of templates with another version in this build: hints, not measurements of its kernels.

/// A template that was measured under another content hash than this build's.
struct OtherVersion {
  std::string name, measured_hash, built_hash;
};

/// "measured with another version of gemm_wgmma (1a2b3c4d, here 5e6f7a8b) than this build's: a hint, ..."; empty if
/// there are none.
[[nodiscard]] std::string versions_text(const std::vector<OtherVersion>& others);
/// The templates' names.
[[nodiscard]] nlohmann::json other_versions_json(const std::vector<OtherVersion>& others);

// The steps to a verdict, in sentences: the comparison, its precision, the margin of ties, and the rule of
// stats::verdict() that applied.

/// Each a step; at least one.
[[nodiscard]] std::vector<std::string> explain_verdict(const session::Answer& answer, const Conditions& conditions);

}  // namespace pgtune::tool
