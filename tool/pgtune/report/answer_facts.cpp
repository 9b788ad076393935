// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/answer_facts.hpp"

#include <fmt/format.h>

#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/report/answer_text.hpp"
#include "tool/pgtune/report/energy_view.hpp"

namespace pgtune::tool {
namespace {

/// "8 finalists of 34 that raced; 1 round was void and repeated; GPU time: screen 12s, ..."
std::string final_text(const session::Answer& answer) {
  if (!answer.from_final) return {};
  const std::size_t finalists = answer.ranking.size();
  std::string text = fmt::format("{} finalist{}", finalists, finalists == 1 ? "" : "s");
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

std::string answer_facts(const session::Answer& answer, const Conditions& conditions) {
  std::string out;
  const session::RankedVariant& best = answer.best();
  out += fact("verdict", verdict_text(best, answer.floor.margin, answer.from_final, baseline_name(answer)));
  out += fact("cycles", cycles_text(best, answer.floor.margin, baseline_name(answer)));
  if (best.energy && answer.baseline_energy)
    out += fact("energy", energy_verdict(*best.energy, *answer.baseline_energy, baseline_name(answer)));
  if (best.settled_energy && answer.baseline_settled_energy)
    out += fact("joules",
                settled_energy_text(*best.settled_energy, *answer.baseline_settled_energy, baseline_name(answer)));
  if (answer.objective != session::Objective::kTime)
    out += fact("objective", answer.objective == session::Objective::kEnergy
                                 ? "energy: joules of one launch decided, the time where those tie"
                                 : "edp: joules times seconds of one launch decided, the time where those tie");
  if (answer.idle_power_w) out += fact("idle", fmt::format("{:.0f} W, part of the watts above", *answer.idle_power_w));
  out += fact("clocks", clocks_text(answer));
  out += fact("noise", noise_text(answer.floor));
  out += fact("regime", conditions_text(conditions));
  out += fact("sampling", sampling_text(answer, conditions));
  out += fact("final", final_text(answer));
  for (const std::string& note : answer.notes) out += fact("note", note);
  if (!answer.ties.empty())
    out +=
        fact("ties", fmt::format("{} variant{} could not be told apart from the best; {} was taken", answer.ties.size(),
                                 answer.ties.size() == 1 ? "" : "s",
                                 answer.objective == session::Objective::kTime ? "the smaller one" : "the faster one"));
  return out;
}

}  // namespace pgtune::tool
