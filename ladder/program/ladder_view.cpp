// SPDX-License-Identifier: MIT
#include "ladder/program/ladder_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/report/answer_text.hpp"
#include "tool/pgtune/report/result_json.hpp"
#include "tuner/model/json.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

constexpr const char* kNothing = "-";

std::string place_text(std::size_t index) { return std::to_string(index + 1); }

/// How many times faster a rung is than the last one before it with a time; 0 if there is none.
double gain_at(const std::vector<RungResult>& rungs, std::size_t index) {
  if (!rungs[index].measured) return 0;
  for (std::size_t before = index; before-- > 0;) {
    if (rungs[before].measured) return rungs[before].measured->time_s / rungs[index].measured->time_s;
  }
  return 0;
}

/// Widths of an instruction's accesses in bits, narrowest first: "32+128".
std::string width_text(const SassCounts& code, std::string_view name) {
  constexpr std::array kWidths{8, 16, 32, 64, 128};
  std::array<bool, kWidths.size()> used{};
  for (const auto& [opcode, count] : code.by_opcode) {
    if (count == 0 || !(opcode == name || opcode.starts_with(std::string(name) + '.'))) continue;
    int bits = 32;
    if (opcode.ends_with(".128")) bits = 128;
    if (opcode.ends_with(".64")) bits = 64;
    if (opcode.ends_with("16")) bits = 16;
    if (opcode.ends_with("8") && !opcode.ends_with("128")) bits = 8;
    used[static_cast<std::size_t>(std::find(kWidths.begin(), kWidths.end(), bits) - kWidths.begin())] = true;
  }
  std::string text;
  for (std::size_t i = 0; i < kWidths.size(); ++i) {
    if (used[i]) text += fmt::format("{}{}", text.empty() ? "" : "+", kWidths[i]);
  }
  return text;
}

/// The instructions to count: those of a GEMM's main loop if it is known, else all.
const SassCounts& hot_code(const RungBuild& build) { return build.loop ? *build.loop : *build.code; }

/// The way into shared memory or registers: "LDG 128", "LDGSTS 32+128", "TMA".
std::string copy_text(const RungBuild& build) {
  if (build.code->of("UTMALDG") > 0) return "TMA";
  std::string text;
  for (const char* name : {"LDGSTS", "LDG"}) {
    const std::string widths = width_text(hot_code(build), name);
    if (!widths.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, widths);
  }
  return text.empty() ? kNothing : text;
}

double ffma_share(const SassCounts& code) {
  return code.total > 0 ? static_cast<double>(code.of("FFMA")) / static_cast<double>(code.total) : 0;
}

std::string speed_table(const LadderOutcome& outcome) {
  TextTable table({{"#", Align::kRight},
                   {"rung"},
                   {std::string(outcome.problem.speed_unit()), Align::kRight},
                   {"+-%", Align::kRight},
                   {fmt::format("% of {}", outcome.baseline)},
                   {"gain", Align::kRight}});
  for (std::size_t i = 0; i < outcome.rungs.size(); ++i) {
    const RungResult& rung = outcome.rungs[i];
    if (!rung.measured) continue;
    const session::RankedVariant& measured = *rung.measured;
    const double gain = gain_at(outcome.rungs, i);
    table.add_row({place_text(i), rung.planned.rung.name + (rung.in_rounds ? "" : " *"),
                   speed_text(outcome.problem, measured.time_s), fmt::format("{:.1f}", 100 * measured.spread),
                   measured.ratio_to_baseline > 0
                       ? fmt::format("{:.1f} ({})", 100 * measured.ratio_to_baseline,
                                     percent_interval_text(measured.ratio_low, measured.ratio_high))
                       : kNothing,
                   gain > 0 ? fmt::format("x{:.2f}", gain) : kNothing});
  }
  return table.text();
}

std::string build_table(const LadderOutcome& outcome) {
  // Without a disassembler no rung has code.
  const bool code = std::any_of(outcome.rungs.begin(), outcome.rungs.end(),
                                [](const RungResult& rung) { return rung.build && rung.build->code; });
  std::vector<TextTable::Column> columns{{"#", Align::kRight},
                                         {"registers", Align::kRight},
                                         {"smem KiB", Align::kRight},
                                         {"occupancy", Align::kRight},
                                         {"spill bytes", Align::kRight}};
  if (code) columns.insert(columns.end(), {{"global reads"}, {"LDS bits"}, {"FFMA", Align::kRight}});
  TextTable table(std::move(columns));
  for (std::size_t i = 0; i < outcome.rungs.size(); ++i) {
    const auto& build = outcome.rungs[i].build;
    if (!build) continue;
    std::vector<std::string> cells{
        place_text(i), std::to_string(build->info.registers), kibibytes_text(build->smem_bytes),
        fmt::format("{:.1f} %", 100 * build->occupancy.fraction), std::to_string(build->info.spill_bytes)};
    if (build->code) {
      const std::string lds = width_text(hot_code(*build), "LDS");
      cells.insert(cells.end(), {copy_text(*build), lds.empty() ? kNothing : lds,
                                 fmt::format("{:.1f} %", 100 * ffma_share(hot_code(*build)))});
    } else if (code) {
      cells.insert(cells.end(), {kNothing, kNothing, kNothing});
    }
    table.add_row(std::move(cells));
  }
  return table.text();
}

using Counter = std::optional<double> KernelCounters::*;

std::string counter_text(const RungResult& rung, Counter counter) {
  const std::optional<double> share = rung.counters ? (*rung.counters).*counter : std::nullopt;
  return share ? fmt::format("{:.1f}", 100 * *share) : kNothing;
}

std::string counter_table(const LadderOutcome& outcome) {
  TextTable table({{"#", Align::kRight},
                   {"long sb", Align::kRight},
                   {"short sb", Align::kRight},
                   {"MIO", Align::kRight},
                   {"LG", Align::kRight},
                   {"barrier", Align::kRight},
                   {"dispatch", Align::kRight},
                   {"FMA pipe", Align::kRight},
                   {"issue slots", Align::kRight}});
  for (std::size_t i = 0; i < outcome.rungs.size(); ++i) {
    if (!outcome.rungs[i].counters) continue;
    std::vector<std::string> row{place_text(i)};
    for (const Counter counter :
         {&KernelCounters::stall_long_scoreboard, &KernelCounters::stall_short_scoreboard,
          &KernelCounters::stall_mio_throttle, &KernelCounters::stall_lg_throttle, &KernelCounters::stall_barrier,
          &KernelCounters::stall_dispatch, &KernelCounters::fma_pipe_share, &KernelCounters::issue_slot_share})
      row.push_back(counter_text(outcome.rungs[i], counter));
    table.add_row(std::move(row));
  }
  return table.empty() ? std::string() : table.text();
}

std::string paragraph(const std::string& text) {
  std::string out;
  for (const std::string& line : wrap_text(text, kTextWidth)) out += line + '\n';
  return out;
}

/// Prints what was built and measured, and what could not be.
std::string rung_list(const LadderOutcome& outcome) {
  std::string out;
  for (std::size_t i = 0; i < outcome.rungs.size(); ++i) {
    const PlannedRung& planned = outcome.rungs[i].planned;
    const std::string label = "#" + place_text(i);
    out += fact(label.c_str(), fmt::format("{}: {}; {}", planned.rung.name, planned.rung.change, planned.rung.lesson));
    if (!planned.absent.empty()) out += fact("", "not here: " + planned.absent);
    if (!outcome.rungs[i].failure.empty()) out += fact("", "failed: " + outcome.rungs[i].failure);
  }
  return out;
}

std::string measuring_facts(const LadderOutcome& outcome) {
  std::string out;
  const auto alone = [](const RungResult& rung) { return rung.measured && !rung.in_rounds; };
  if (std::any_of(outcome.rungs.begin(), outcome.rungs.end(), alone))
    out += fact("*", fmt::format("timed alone: too slow to share rounds with {}; the range is that of its samples",
                                 outcome.baseline));
  if (outcome.baseline_best_s > 0)
    out += fact(outcome.baseline.c_str(),
                fmt::format("{}: {} ms, {} {} by its best algorithm", outcome.library,
                            milliseconds_text(outcome.baseline_best_s),
                            speed_text(outcome.problem, outcome.baseline_best_s), outcome.problem.speed_unit()));
  if (outcome.answer) out += fact("noise", noise_text(outcome.answer->floor));
  out += fact("regime", conditions_text(outcome.conditions));
  if (outcome.answer) {
    out += fact("sampling", sampling_text(*outcome.answer, outcome.conditions));
    for (const std::string& note : outcome.answer->notes) out += fact("note", note);
  }
  return out;
}

json ratio_json(const session::RankedVariant& measured) {
  if (measured.ratio_to_baseline <= 0) return nullptr;
  return {{"median", measured.ratio_to_baseline}, {"interval", {measured.ratio_low, measured.ratio_high}}};
}

json code_json(const SassCounts& code) {
  return {{"total", code.total}, {"by_opcode", code.by_opcode}, {"ffma_share", ffma_share(code)}};
}

json build_json(const RungBuild& build) {
  return {{"registers", build.info.registers},
          {"smem_bytes", build.smem_bytes},
          {"spill_bytes", build.info.spill_bytes},
          {"occupancy",
           {{"ctas_per_sm", build.occupancy.ctas_per_sm},
            {"fraction", build.occupancy.fraction},
            {"limiter", build.occupancy.limiter}}},
          {"instructions", build.code ? code_json(*build.code) : json(nullptr)},
          {"main_loop", build.loop ? code_json(*build.loop) : json(nullptr)}};
}

json rung_json(const LadderOutcome& outcome, std::size_t index) {
  const RungResult& rung = outcome.rungs[index];
  const LadderRung& about = rung.planned.rung;
  json out = {{"name", about.name}, {"change", about.change}, {"lesson", about.lesson}};
  out["template"] = rung.planned.variant ? json(rung.planned.variant->template_name) : json(nullptr);
  out["variant"] = rung.planned.variant ? json(rung.planned.variant->key()) : json(nullptr);
  out["absent"] = rung.planned.absent.empty() ? json(nullptr) : json(rung.planned.absent);
  out["failure"] = rung.failure.empty() ? json(nullptr) : json(rung.failure);
  out["build"] = rung.build ? build_json(*rung.build) : json(nullptr);
  if (rung.measured) {
    const double gain = gain_at(outcome.rungs, index);
    out["time_s"] = rung.measured->time_s;
    out["tflops"] = rung.measured->tflops;
    out["spread"] = rung.measured->spread;
    out["in_rounds"] = rung.in_rounds;
    out["ratio_to_baseline"] = ratio_json(*rung.measured);
    out["gain"] = gain > 0 ? json(gain) : json(nullptr);
  }
  if (rung.counters) out["counters"] = *rung.counters;
  return out;
}

}  // namespace

std::string ladder_text(const LadderOutcome& outcome, const Terminal& terminal) {
  std::string out = terminal.styled(Style::kBold, fmt::format("{}, ladder {}", outcome.problem.title(), outcome.name)) +
                    '\n' + paragraph(outcome.device_description) + paragraph(outcome.description) + '\n';
  if (outcome.timed) out += speed_table(outcome) + '\n';
  out += build_table(outcome) + '\n';
  if (!outcome.sass_problem.empty()) out += paragraph("No instruction counts: " + outcome.sass_problem) + '\n';
  if (outcome.counters) {
    const std::string table = counter_table(outcome);
    if (!table.empty())
      out += "stalls in percent of a warp's time; pipe and issue slots of what they can do\n" + table + '\n';
    if (outcome.counters_problem) out += paragraph("No counters: " + *outcome.counters_problem) + '\n';
  }
  out += rung_list(outcome);
  if (outcome.timed) out += '\n' + measuring_facts(outcome);
  return out;
}

json ladder_json(const LadderOutcome& outcome) {
  json rungs = json::array();
  for (std::size_t i = 0; i < outcome.rungs.size(); ++i) rungs.push_back(rung_json(outcome, i));
  json out = {{"schema", kJsonSchema},
              {"ladder", outcome.name},
              {"description", outcome.description},
              {"problem", outcome.problem},
              {"device", outcome.device},
              {"conditions", conditions_json(outcome.conditions)},
              {"rungs", std::move(rungs)},
              {"instructions_missing", outcome.sass_problem.empty() ? json(nullptr) : json(outcome.sass_problem)},
              {"elapsed_s", outcome.elapsed_s}};
  if (outcome.counters) out["counters_missing"] = or_null(outcome.counters_problem);
  if (outcome.baseline_best_s > 0)
    out["baseline"] = {{"library", outcome.library}, {"best_time_s", outcome.baseline_best_s}};
  if (outcome.answer) {
    out["noise"] = {{"rounds", outcome.answer->floor.rounds}, {"margin", outcome.answer->floor.margin}};
    out["sampling"] = to_string(outcome.answer->sampling);
    out["notes"] = outcome.answer->notes;
  }
  return out;
}

}  // namespace pgtune::tool
