// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/answer_text.hpp"

#include <fmt/format.h>

#include "tuner/stats/interval.hpp"

namespace pgtune::tool {
namespace {

using stats::rounded_down, stats::rounded_up;

}  // namespace

std::string interval_text(double low, double high) {
  return fmt::format("{:.3f} to {:.3f}", rounded_down(low), rounded_up(high));
}

std::string ratio_text(double ratio, double low, double high) {
  if (!(low > 0)) return fmt::format("{:.3f}", ratio);
  return fmt::format("{:.3f} ({:.3f}-{:.3f})", ratio, rounded_down(low), rounded_up(high));
}

std::string percent_interval_text(double low, double high) {
  return fmt::format("{:.1f}-{:.1f}", rounded_down(low) * 100, rounded_up(high) * 100);
}

std::string baseline_name(const session::Answer& answer) { return answer.baseline.name(); }

std::string beside_text(const OtherBaseline& other) {
  if (other.time_s <= 0)
    return fmt::format("{} is not there to be compared with: {}", other.library, other.unavailable);
  // The same library's product is no other baseline beside it.
  return fmt::format("{}{} timed alone: {:.4g} ms", other.library, other.is_laid_out_before() ? "," : " beside it,",
                     other.time_s * 1e3);
}

std::string_view verdict_word(const session::RankedVariant& ranked, bool from_final) {
  return from_final ? to_string(ranked.verdict) : "none";
}

std::string verdict_text(const session::RankedVariant& best, double margin, bool from_final,
                         std::string_view baseline) {
  if (!from_final) return "none: the times are from screening, the final is not whole";
  const std::string speed =
      fmt::format("{} times the speed of {}'s best", interval_text(best.ratio_low, best.ratio_high), baseline);
  switch (best.verdict) {
    case stats::Verdict::kFaster:
      return "faster: " + speed;
    case stats::Verdict::kFasterThroughPower:
      return fmt::format("faster through power: {}, but not in cycles: its clock ran higher in the same power budget",
                         speed);
    case stats::Verdict::kTie:
      return fmt::format("tie: {}, inside the {:.2f} % that are told apart", speed, 100 * margin);
    case stats::Verdict::kSlower:
      return "slower: " + speed;
    case stats::Verdict::kUnclear:
      break;
  }
  return fmt::format("unclear: {}; more rounds or a quieter GPU would tell", speed);
}

std::string cycles_text(const session::RankedVariant& best, double margin, std::string_view baseline) {
  if (!(best.cycles_ratio > 0) || !(best.ratio_to_baseline > 0)) return {};
  if (std::abs(std::log(best.cycles_ratio / best.ratio_to_baseline)) <= std::log1p(margin)) return {};
  return fmt::format("{} in cycles against {}'s best, {:.3f} in time: their clocks differed",
                     ratio_text(best.cycles_ratio, best.cycles_low, best.cycles_high), baseline,
                     best.ratio_to_baseline);
}

std::string clocks_text(const session::Answer& answer) {
  const double clock_hz = answer.best().sm_clock_hz;
  if (!(clock_hz > 0) || !(answer.baseline_clock_hz > 0)) return {};
  return fmt::format("{:.0f} MHz, {}'s best at {:.0f} MHz (medians over the final)", clock_hz / 1e6,
                     baseline_name(answer), answer.baseline_clock_hz / 1e6);
}

std::string noise_text(const session::NoiseFloor& floor) {
  const std::string ties = fmt::format("under {:.2f} % is a tie", 100 * floor.margin);
  if (floor.rounds == 0) return "not measured; " + ties;
  return fmt::format("baseline against itself +-{:.2f} % ({} rounds); {}", stats::rounded_up(100 * floor.half_width, 2),
                     floor.rounds, ties);
}

std::string sampling_text(const session::Answer& answer, const Conditions& conditions) {
  if (!answer.from_final) return {};
  const std::string launches = answer.in_graphs.value_or(false) ? "; launches in CUDA graphs" : "";
  if (answer.sampling == Sampling::kSettled)
    return fmt::format("settled: at the power cap each sample began once launches of its own had settled the clock{}{}",
                       answer.lead_in_s ? fmt::format(" (median {:.2f} s)", *answer.lead_in_s) : "", launches);
  return (conditions.regime == Regime::kBurst ? "short: in the burst regime each sample follows a rest"
                                              : "short: contenders take turns without settling the clock") +
         launches;
}

std::string conditions_text(const Conditions& conditions) {
  const bool usual_seed = conditions.data_seed == Conditions{}.data_seed;
  return fmt::format("{}, L2 {}, {} data{}, clocks {}", to_string(conditions.regime), to_string(conditions.l2),
                     to_string(conditions.data), usual_seed ? "" : fmt::format(" (seed {})", conditions.data_seed),
                     conditions.locked_sm_clock_hz > 0
                         ? fmt::format("locked at {:.0f} MHz", conditions.locked_sm_clock_hz / 1e6)
                         : "observed");
}

}  // namespace pgtune::tool
