// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/answer_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/report/energy_view.hpp"
#include "tuner/stats/interval.hpp"
#include "tuner/util/count_text.hpp"

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
  // The same library's product does not count as another baseline.
  return fmt::format("{}{} timed alone: {:.4g} ms", other.library, other.is_laid_out_before() ? "," : " beside it,",
                     other.time_s * 1e3);
}

std::string_view verdict_word(const session::RankedVariant& ranked, bool from_final) {
  return from_final ? to_string(ranked.verdict) : "none";
}

std::string short_verdict(const session::Answer& answer) {
  const bool by_power = answer.from_final && answer.best().verdict == stats::Verdict::kFasterThroughPower;
  return by_power ? "by power" : std::string(verdict_word(answer.best(), answer.from_final));
}

Style verdict_style(const session::Answer& answer) {
  if (!answer.from_final) return Style::kUnclear;
  switch (answer.best().verdict) {
    case stats::Verdict::kFaster:
    case stats::Verdict::kFasterThroughPower:
      return Style::kGood;
    case stats::Verdict::kSlower:
      return Style::kBad;
    case stats::Verdict::kUnclear:
      return Style::kUnclear;
    case stats::Verdict::kTie:
      break;
  }
  return Style::kPlain;
}

Style held_style(session::Held held) {
  switch (held) {
    case session::Held::kFaster:
      return Style::kGood;
    case session::Held::kSlower:
      return Style::kBad;
    case session::Held::kUnclear:
      return Style::kUnclear;
    case session::Held::kHeld:
    case session::Held::kNew:
      break;
  }
  return Style::kPlain;
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

std::string missed_text(double missed, bool of_presets, const session::Answer& answer) {
  const session::RankedVariant& best = answer.best();
  const bool known = answer.from_final && best.ratio_high > 0;
  return fmt::format(
      "the rest{} may gain {:.1f} %{}", of_presets ? " of the presets" : "", 100 * missed,
      known && missed < 1 - best.ratio_high
          ? fmt::format(", less than {} is ahead: its kernel may be of another kind", baseline_name(answer))
          : "");
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

namespace {

/// "8 finalists of 34 that raced; 1 round was void and repeated; GPU time: screen 12s, ..."
std::string final_text(const session::Answer& answer) {
  if (!answer.from_final) return {};
  std::string text = counted(answer.ranking.size(), "finalist");
  if (answer.raced > 0) text += fmt::format(" of {} that raced", answer.raced);
  if (answer.voided_rounds > 0)
    text += fmt::format("; {} round{} void and repeated", answer.voided_rounds,
                        answer.voided_rounds == 1 ? " was" : "s were");
  if (answer.confirm_rounds > 0)
    text +=
        fmt::format("; the figures of #1 and cuBLASLt are from {} rounds after it was chosen", answer.confirm_rounds);
  const session::StageTimes& stages = answer.stages;
  text += fmt::format("; GPU time: screen {}, floor {}, race {}, final {}", duration_text(stages.screen_s),
                      duration_text(stages.floor_s), duration_text(stages.race_s), duration_text(stages.final_s));
  if (stages.confirm_s > 0) text += fmt::format(", confirm {}", duration_text(stages.confirm_s));
  if (stages.verify_s > 0) text += fmt::format(", verify {}", duration_text(stages.verify_s));
  if (stages.prepare_s > 0)
    text += fmt::format("; {} before them for data, reference and baseline, {} for its steady run",
                        duration_text(stages.prepare_s), duration_text(stages.steady_s));
  return text;
}

}  // namespace

std::string energy_table(const Problem& problem, const session::Answer& answer) {
  std::vector<TextTable::Column> columns = energy_columns(problem.speed_unit());
  columns.insert(columns.begin(), {"energy"});
  TextTable table(std::move(columns));
  bool any_pareto = false;
  const auto add = [&](const std::string& name, const session::EnergySummary& energy) {
    std::vector<std::string> cells = energy_cells(energy, problem);
    cells.insert(cells.begin(), name);
    table.add_row(std::move(cells));
  };
  int place = 0;
  for (const session::RankedVariant& ranked : answer.ranking) {
    ++place;
    any_pareto = any_pareto || ranked.pareto;
    if (ranked.energy) add(fmt::format("#{}{}", place, ranked.pareto ? " *" : ""), *ranked.energy);
  }
  if (table.empty()) return {};
  if (answer.baseline_energy) add(fmt::format("{} best", baseline_name(answer)), *answer.baseline_energy);
  std::string out = table.text();
  if (any_pareto) out += "* on the Pareto list: no finalist is both faster and needs less energy\n";
  return out + '\n';
}

std::string energy_facts(const session::Answer& answer) {
  std::string out;
  const session::RankedVariant& best = answer.best();
  if (best.energy && answer.baseline_energy)
    out += fact("energy", energy_verdict(*best.energy, *answer.baseline_energy, baseline_name(answer)));
  if (best.settled_energy && answer.baseline_settled_energy)
    out += fact("joules",
                settled_energy_text(*best.settled_energy, *answer.baseline_settled_energy, baseline_name(answer)));
  if (answer.objective != session::Objective::kTime)
    out += fact("objective", answer.objective == session::Objective::kEnergy
                                 ? "energy: joules of one launch decided, the time where those tie"
                                 : "edp: joules times seconds of one launch decided, the time where those tie");
  return out;
}

std::string answer_facts(const session::Answer& answer, const Conditions& conditions) {
  const session::RankedVariant& best = answer.best();
  std::string out = fact("verdict", verdict_text(best, answer.floor.margin, answer.from_final, baseline_name(answer)));
  out += fact("cycles", cycles_text(best, answer.floor.margin, baseline_name(answer)));
  if (answer.idle_power_w) out += fact("idle", fmt::format("{:.0f} W, part of the watts above", *answer.idle_power_w));
  out += fact("clocks", clocks_text(answer));
  out += fact("noise", noise_text(answer.floor));
  out += fact("regime", conditions_text(conditions));
  out += fact("sampling", sampling_text(answer, conditions));
  out += fact("final", final_text(answer));
  for (const std::string& note : answer.notes) out += fact("note", note);
  if (!answer.ties.empty())
    out +=
        fact("ties", fmt::format("{} could not be told apart from the best; {} was taken",
                                 counted(answer.ties.size(), "variant"),
                                 answer.objective == session::Objective::kTime ? "the smaller one" : "the faster one"));
  return out;
}

std::string versions_text(const std::vector<OtherVersion>& others) {
  constexpr std::size_t kHashShown = 8;
  if (others.empty()) return {};
  std::vector<std::string> named;
  for (const OtherVersion& other : others)
    named.push_back(fmt::format("{} ({}, here {})", other.name, other.measured_hash.substr(0, kHashShown),
                                other.built_hash.substr(0, kHashShown)));
  return fmt::format(
      "measured with another version of {} than this build's: a hint, not a measurement of this build's kernels",
      fmt::join(named, ", "));
}

nlohmann::json other_versions_json(const std::vector<OtherVersion>& others) {
  nlohmann::json out = nlohmann::json::array();
  for (const OtherVersion& other : others) out.push_back(other.name);
  return out;
}

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

/// For a faster winner: whether its clock contributed. Empty for others.
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
