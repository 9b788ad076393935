// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/verdict_explanation.hpp"

#include <fmt/format.h>

#include "tool/pgtune/report/answer_text.hpp"

namespace pgtune::tool {
namespace {

std::string comparison_step(const session::Answer& answer) {
  const session::RankedVariant& best = answer.best();
  const std::string where =
      answer.confirm_rounds > 0
          ? fmt::format("each of {} rounds that were measured after the final had chosen", answer.confirm_rounds)
          : "each round of the final";
  return fmt::format(
      "In {} both took turns, and the time of {}'s best was divided by the winner's. The mean of these ratios is "
      "{:.3f}, and with 95 % confidence it is {}.",
      where, baseline_name(answer), best.ratio_to_baseline, interval_text(best.ratio_low, best.ratio_high));
}

std::string margin_step(const session::Answer& answer) {
  const double percent = 100 * answer.floor.margin;
  if (answer.floor.rounds > 0)
    return fmt::format(
        "Less than {:.2f} % counts as a tie: twice what {}'s best differed from itself in {} rounds (+-{:.2f} %), and "
        "0.3 % at least.",
        percent, baseline_name(answer), answer.floor.rounds, 100 * answer.floor.half_width);
  return fmt::format("Less than {:.2f} % counts as a tie; how much this session scattered was not measured.", percent);
}

std::string rule_step(const session::Answer& answer) {
  const double margin = answer.floor.margin;
  const std::string tie = fmt::format("{:.3f} to {:.3f}", 1 / (1 + margin), 1 + margin);
  switch (answer.best().verdict) {
    case stats::Verdict::kFaster:
    case stats::Verdict::kFasterThroughPower:
      return fmt::format("The whole interval is above 1, and not all of it within {}: it is faster.", tie);
    case stats::Verdict::kSlower:
      return fmt::format("The whole interval is below 1, and not all of it within {}: it is slower.", tie);
    case stats::Verdict::kTie:
      return fmt::format("The whole interval is within {}: a tie, on whichever side of 1 it lies.", tie);
    case stats::Verdict::kUnclear:
      break;
  }
  return fmt::format(
      "The interval contains 1 and goes beyond {}: neither a tie nor a difference is shown. More rounds (bench "
      "--rounds) or a "
      "quieter GPU make it narrower.",
      tie);
}

/// Of a faster winner: whether its clock had a part in it. Empty for the others.
std::string cycles_step(const session::RankedVariant& best) {
  if (best.verdict != stats::Verdict::kFaster && best.verdict != stats::Verdict::kFasterThroughPower) return {};
  if (!(best.cycles_ratio > 0)) return "No clock was measured: whether it needs fewer clock cycles is not known.";
  const std::string cycles =
      fmt::format("In clock cycles the ratio is {}", ratio_text(best.cycles_ratio, best.cycles_low, best.cycles_high));
  if (best.verdict == stats::Verdict::kFaster) return cycles + ", above 1 too: it needs fewer of them.";
  return cycles +
         ", and not surely above 1: it is faster because its clock ran higher in the same power budget, \"through "
         "power\".";
}

}  // namespace

std::vector<std::string> explain_verdict(const session::Answer& answer, const Conditions& conditions) {
  if (!answer.from_final)
    return {
        "The search was stopped before its final was whole. Times from screening, each variant measured by itself, "
        "give no verdict; the same search goes on where this one stopped."};
  std::vector<std::string> steps{comparison_step(answer), margin_step(answer), rule_step(answer)};
  if (const std::string cycles = cycles_step(answer.best()); !cycles.empty()) steps.push_back(cycles);
  steps.push_back("Samples were " + sampling_text(answer, conditions) + ".");
  return steps;
}

}  // namespace pgtune::tool
