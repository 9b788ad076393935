// SPDX-License-Identifier: MIT
// What search and bench print of an answer, in few lines.
#pragma once

#include <optional>
#include <string>

#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tuner/model/conditions.hpp"
#include "tuner/model/energy_window.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/session/answer.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

struct AnswerView {
  const Problem& problem;
  const space::TemplateSet& templates;
  const DeviceInfo& device;
  const Conditions& conditions;
  const std::optional<Ceilings>& ceilings;  ///< of the device, where they are known
  const BaselineReport& baseline;
  const session::Answer& answer;
  bool other_version = false;  ///< the winner was measured with another version of its template
};

/// "1.026x cuBLASLt's best (1.025-1.028)  faster" in the verdict's colour, and a line of time, speed and roof.
[[nodiscard]] std::string verdict_lines(const AnswerView& view, const Terminal& terminal);
/// Facts on the baseline, on energy where it was measured, and on conditions and noise.
[[nodiscard]] std::string measured_facts(const AnswerView& view, const Terminal& terminal);
/// "sgemm_tma; tile: BM=128 BN=256; pipeline: STAGES=3; the rest default": what differs from the template's defaults,
/// by what it is about.
[[nodiscard]] std::string winner_text(const Variant& variant, const space::TemplateSet& templates);
/// "  (3 notes)"; empty without any.
[[nodiscard]] std::string notes_text(const session::Answer& answer);

/// "BM=128"
[[nodiscard]] std::string assignment_text(const Assignment& assignment);
/// An algorithm's place in the heuristic's list, "1 of 32", or that pgtune found it beside the list.
[[nodiscard]] std::string place_text(const AlgorithmReport& algorithm, const BaselineReport& baseline);

}  // namespace pgtune::tool
