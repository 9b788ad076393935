// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/roofline_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/report/answer_text.hpp"
#include "tool/pgtune/report/counters_view.hpp"
#include "tool/pgtune/report/result_columns.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/model/json.hpp"
#include "tuner/operation/gemm_operation.hpp"
#include "tuner/space/estimate.hpp"

namespace pgtune::tool {
namespace {

constexpr double kTera = 1e12;

/// The built-in templates by content, so that a result finds the text it was measured with.
std::map<std::string, space::TemplateDefinition> templates_by_hash(const Catalogue& catalogue) {
  std::map<std::string, space::TemplateDefinition> out;
  for (const std::string& name : catalogue.all_names()) {
    space::TemplateDefinition definition = catalogue.load(name);
    out.emplace(definition.content_hash, std::move(definition));
  }
  return out;
}

/// With computed traffic alone; the template is the one that was measured, or null.
RooflinePoint computed_point(const StoredResult& result, const space::TemplateDefinition* definition) {
  RooflinePoint point;
  point.result = &result;
  point.dram.computed = point.baseline_dram.computed = result.problem.traffic_bytes();
  if (definition == nullptr) return point;
  const auto bytes = space::l2_bytes(*definition, result.answer.best().variant, result.problem, result.device);
  if (bytes && *bytes && **bytes > 0) point.l2.computed = *bytes;
  return point;
}

void add_counters(RooflinePoint& point, const db::Database& database) {
  point.counters = counters_of(database, *point.result, point.ceilings);
  if (!point.counters) return;
  for (const ContenderCounters& contender : point.counters->contenders) {
    const KernelCounters& counters = *contender.counters;
    (contender.variant ? point.dram : point.baseline_dram).measured = counters.dram_bytes();
    (contender.variant ? point.l2 : point.baseline_l2).measured = counters.l2_bytes();
    (contender.variant ? point.smem : point.baseline_smem).measured = counters.smem_bytes;
  }
}

/// What keeps the lowest roof from bounding the point after all; empty where it lies below. A roof is what pgtune's own
/// kernel reached in one minute, and a percent more another minute's clock.
std::string why_above(const RooflinePoint& point) {
  constexpr double kAbove = 1.01;
  if (!point.share || *point.share <= kAbove) return "";
  if (point.roof == "DRAM")
    return point.dram.measured ? "the bytes were counted in another launch, at other clocks"
                               : "operands are computed as read once from DRAM, and some stayed in L2";
  if (point.roof == "L2")
    return point.l2.measured
               ? "reads and writes were counted, and the roof is of reads alone"
               : "the bytes are computed for each CTA: multicasts to clusters and hits in L1 are not left out "
                 "(--counters counts them)";
  if (point.roof == "smem") return "tensor cores read without the loads that the roof was measured with";
  return "the GPU's clock was higher than while the roof was measured";
}

void add_bounds(RooflinePoint& point, const Ceilings& ceilings) {
  const StoredResult& result = *point.result;
  const auto bound_of = [&](const LevelBytes& level, double bytes_per_s) -> std::optional<double> {
    const auto intensity = point.intensity(level);
    return intensity && bytes_per_s > 0 ? std::optional(*intensity * bytes_per_s) : std::nullopt;
  };
  if (point.dram.measured || conditions_of(result).l2 == L2State::kRotated)
    point.dram_bound = bound_of(point.dram, ceilings.dram_bytes_per_s);
  point.l2_bound = bound_of(point.l2, ceilings.l2_bytes_per_s);
  point.smem_bound = bound_of(point.smem, ceilings.smem_bytes_per_s.value_or(0));
  // The arithmetic of operations other than products is unknown.
  const auto flops = ceilings.flops.find(std::string(to_string(result.problem.dtype)));
  if (operation::gemm_baseline(result.problem) != nullptr && flops != ceilings.flops.end())
    point.arithmetic_bound = flops->second;
  double lowest = 0;
  const auto consider = [&](const std::optional<double>& bound, const char* roof) {
    if (!bound || (!point.roof.empty() && *bound >= lowest)) return;
    lowest = *bound;
    point.roof = roof;
  };
  consider(point.dram_bound, "DRAM");
  consider(point.l2_bound, "L2");
  consider(point.smem_bound, "smem");
  consider(point.arithmetic_bound, "arithmetic");
  if (lowest > 0) point.share = result.answer.best().tflops * kTera / lowest;
  point.above = why_above(point);
}

/// At most five columns: a decimal below 1000, none above.
std::string short_number(double value) {
  constexpr double kWithoutDecimals = 999.95;
  return fmt::format("{:.{}f}", value, value < kWithoutDecimals ? 1 : 0);
}

std::string tera(const std::optional<double>& value) { return value ? short_number(*value / kTera) : "-"; }

/// The columns' names.
std::string short_roof(const std::string& roof) { return roof.empty() ? "-" : roof == "arithmetic" ? "arith" : roof; }

/// DRAM, L2, and the arithmetic of the dtypes in `points`.
std::string ceilings_text(const Ceilings& ceilings, const std::vector<const RooflinePoint*>& points) {
  std::set<std::string> dtypes;
  for (const RooflinePoint* point : points) dtypes.emplace(to_string(point->result->problem.dtype));
  std::string text = fmt::format("roofs: DRAM {:.0f} GB/s, L2 {:.0f} GB/s", ceilings.dram_bytes_per_s / 1e9,
                                 ceilings.l2_bytes_per_s / 1e9);
  if (ceilings.smem_bytes_per_s) text += fmt::format(", shared memory {:.0f} GB/s", *ceilings.smem_bytes_per_s / 1e9);
  for (const auto& [dtype, flops] : ceilings.flops) {
    if (dtypes.contains(dtype)) text += fmt::format(", {} {:.1f} TFLOP/s", dtype, flops / kTera);
  }
  if (ceilings.sm_clock_hz > 0 && dtypes.contains("f32"))
    text += fmt::format(" (f32 at {:.0f} MHz)", ceilings.sm_clock_hz / 1e6);
  return text;
}

/// The points' results in sections, each row with its point.
template <typename AddRows>
void add_sections(TextTable& table, const std::vector<const RooflinePoint*>& points, const AddRows& add_rows) {
  std::map<const StoredResult*, const RooflinePoint*> point_of;
  std::vector<const StoredResult*> results;
  for (const RooflinePoint* point : points) {
    point_of[point->result] = point;
    results.push_back(point->result);
  }
  for (const TableSection& section : table_sections(results, SectionUnit::kInColumns)) {
    table.add_section(section.title);
    for (const StoredResult* result : section.results) add_rows(*point_of.at(result));
  }
}

/// Who is above its roof, by the letters that rows have: each reason once.
class Reasons {
 public:
  /// " a" of the first reason, and so on; empty for none.
  std::string mark(const std::string& why) {
    if (why.empty()) return "";
    auto found = std::find(reasons_.begin(), reasons_.end(), why);
    if (found == reasons_.end()) found = reasons_.insert(reasons_.end(), why);
    return fmt::format(" {}", static_cast<char>('a' + (found - reasons_.begin())));
  }
  void print(Terminal& terminal) const {
    for (std::size_t i = 0; i < reasons_.size(); ++i)
      print_wrapped(terminal, fmt::format("{}: above the roof: {}", static_cast<char>('a' + i), reasons_[i]));
  }

 private:
  std::vector<std::string> reasons_;
};

void print_table(Terminal& terminal, const std::vector<const RooflinePoint*>& points) {
  const bool smem = std::any_of(points.begin(), points.end(), [](const auto* point) { return point->smem_bound; });
  std::vector<TextTable::Column> columns{{"problem", Align::kLeft, Wrap::kWords},
                                         {"TFLOP/s", Align::kRight},
                                         {"F/B", Align::kRight, Wrap::kNone, 2},
                                         {"DRAM", Align::kRight, Wrap::kNone, 6},
                                         {"F/B", Align::kRight, Wrap::kNone, 1},
                                         {"L2", Align::kRight, Wrap::kNone, 4},
                                         {"arith", Align::kRight, Wrap::kNone, 5},
                                         {"reached", Align::kRight},
                                         {"of"}};
  constexpr std::ptrdiff_t kBeforeArithmetic = 6;
  if (smem) columns.insert(columns.begin() + kBeforeArithmetic, {"smem", Align::kRight, Wrap::kNone, 3});
  TextTable table(std::move(columns));
  Reasons reasons;
  const auto number = [](const std::optional<double>& value) {
    return value ? short_number(*value) : std::string("-");
  };
  add_sections(table, points, [&](const RooflinePoint& point) {
    std::vector<std::string> cells{row_title(*point.result),
                                   tflops_text(point.result->problem.flops(), point.result->answer.best().time_s),
                                   number(point.intensity(point.dram)),
                                   tera(point.dram_bound),
                                   number(point.intensity(point.l2)),
                                   tera(point.l2_bound),
                                   tera(point.arithmetic_bound),
                                   point.share ? fmt::format("{:.1f} %", 100 * *point.share) : "-",
                                   short_roof(point.roof) + reasons.mark(point.above)};
    if (smem) cells.insert(cells.begin() + kBeforeArithmetic, tera(point.smem_bound));
    table.add_row(std::move(cells));
  });
  terminal.print(table.text(terminal));
  reasons.print(terminal);
}

/// Bytes of the contenders with counters; empty if there are none.
std::string measured_bytes_text(const Terminal& terminal, const std::vector<const RooflinePoint*>& points) {
  std::vector<const RooflinePoint*> measured;
  for (const RooflinePoint* point : points) {
    if (point->counters) measured.push_back(point);
  }
  if (measured.empty()) return {};
  TextTable table({{"MB of a launch", Align::kLeft, Wrap::kWords},
                   {"kernel"},
                   {"DRAM", Align::kRight},
                   {"computed", Align::kRight, Wrap::kNone, 2},
                   {"L2", Align::kRight},
                   {"computed", Align::kRight, Wrap::kNone, 1},
                   {"smem", Align::kRight}});
  const auto mega = [](const std::optional<double>& bytes) {
    return bytes ? fmt::format("{:.1f}", *bytes / 1e6) : std::string("-");
  };
  add_sections(table, measured, [&](const RooflinePoint& point) {
    const auto add = [&](const std::string& title, std::string_view who, const LevelBytes& dram, const LevelBytes& l2,
                         const LevelBytes& smem) {
      table.add_row({title, std::string(who), mega(dram.measured), mega(dram.computed), mega(l2.measured),
                     mega(l2.computed), mega(smem.measured)});
    };
    add(row_title(*point.result), "winner", point.dram, point.l2, point.smem);
    add("", baseline_name(point.result->answer), point.baseline_dram, point.baseline_l2, point.baseline_smem);
  });
  return '\n' + table.text(terminal);
}

nlohmann::json bytes_json(const LevelBytes& dram, const LevelBytes& l2, const LevelBytes& smem) {
  const auto level = [](const LevelBytes& bytes) {
    return nlohmann::json{{"measured", or_null(bytes.measured)}, {"computed", or_null(bytes.computed)}};
  };
  return {{"dram", level(dram)}, {"l2", level(l2)}, {"smem", level(smem)}};
}

}  // namespace

std::optional<double> RooflinePoint::intensity(const LevelBytes& level) const {
  const auto bytes = level.best();
  return bytes && *bytes > 0 ? std::optional(result->problem.flops() / *bytes) : std::nullopt;
}

Ceilings highest(const Ceilings& a, const Ceilings& b) {
  Ceilings out{std::max(a.dram_bytes_per_s, b.dram_bytes_per_s), std::max(a.l2_bytes_per_s, b.l2_bytes_per_s),
               std::max(a.smem_bytes_per_s, b.smem_bytes_per_s), a.flops, a.sm_clock_hz};
  const std::string f32(to_string(Dtype::kF32));
  const auto of = [&](const Ceilings& ceilings) {
    const auto found = ceilings.flops.find(f32);
    return found == ceilings.flops.end() ? 0 : found->second;
  };
  if (of(b) > of(a)) out.sm_clock_hz = b.sm_clock_hz;
  for (const auto& [dtype, flops] : b.flops) out.flops[dtype] = std::max(out.flops[dtype], flops);
  return out;
}

std::vector<RooflinePoint> roofline(const Context& context, const db::Database& database,
                                    const std::vector<StoredResult>& results) {
  const auto templates = templates_by_hash(context.catalogue());
  std::vector<RooflinePoint> points;
  std::map<std::string, std::optional<Ceilings>> roofs;  ///< by device class
  for (const StoredResult& result : results) {
    const auto found = templates.find(result.row.variant_origin.content_hash);
    points.push_back(computed_point(result, found == templates.end() ? nullptr : &found->second));
    if (const auto own = db::find_ceilings(database, result.device, result.row.recorded)) {
      std::optional<Ceilings>& of_class = roofs[device_class(result.device).text()];
      of_class = of_class ? highest(*of_class, *own) : *own;
    }
  }
  for (RooflinePoint& point : points) {
    point.ceilings = roofs[device_class(point.result->device).text()];
    add_counters(point, database);
    if (point.ceilings) add_bounds(point, *point.ceilings);
  }
  return points;
}

std::optional<BindingRoof> binding_roof(const StoredResult& result, const space::TemplateDefinition* definition,
                                        const std::optional<Ceilings>& ceilings) {
  if (!ceilings) return std::nullopt;
  RooflinePoint point = computed_point(result, definition);
  add_bounds(point, *ceilings);
  return point.share && point.above.empty() ? std::optional(BindingRoof{point.roof, *point.share}) : std::nullopt;
}

void print_roofline_report(Terminal& terminal, const std::vector<StoredResult>& results,
                           const std::vector<RooflinePoint>& points) {
  if (results.empty()) return;
  for (const ResultGroup& group : grouped(results)) {
    std::vector<const RooflinePoint*> members;
    for (const RooflinePoint& point : points) {
      if (std::find(group.results.begin(), group.results.end(), point.result) != group.results.end())
        members.push_back(&point);
    }
    print_headline(terminal, group);
    const auto& ceilings = members.front()->ceilings;
    const std::string roofs = ceilings ? ceilings_text(*ceilings, members)
                                       : "roofs: not measured; the next pgtune search on this GPU does that";
    print_wrapped(terminal, roofs);
    print_table(terminal, members);
    terminal.print(measured_bytes_text(terminal, members) + '\n');
  }
  const bool measured = std::any_of(points.begin(), points.end(), [](const auto& point) { return point.counters; });
  print_wrapped(terminal,
                "F/B: FLOP per byte of DRAM (every operand moved once) and of L2 (what the template reads through it, "
                "\"-\" where it does not say); DRAM, L2, arith: what each roof allows, TFLOP/s; reached: the winner's "
                "share of the lowest of them. With warm L2 operands may not come from DRAM, so that roof is left out.");
  if (measured)
    print_wrapped(terminal,
                  "Where the profiler counted a kernel's bytes (--counters), they take the place of the computed ones; "
                  "the tables in MB have both.");
  print_marks_legend(terminal, results);
}

nlohmann::json roofline_report_json(const std::vector<RooflinePoint>& points) {
  nlohmann::json out = nlohmann::json::array();
  for (const RooflinePoint& point : points) {
    out.push_back(result_identity(*point.result));
    out.back().update({{"ceilings", or_null(point.ceilings)},
                       {"flops", point.result->answer.best().tflops * kTera},
                       {"dram_flop_per_byte", or_null(point.intensity(point.dram))},
                       {"l2_flop_per_byte", or_null(point.intensity(point.l2))},
                       {"smem_flop_per_byte", or_null(point.intensity(point.smem))},
                       {"bytes", bytes_json(point.dram, point.l2, point.smem)},
                       {"baseline_bytes", bytes_json(point.baseline_dram, point.baseline_l2, point.baseline_smem)},
                       {"counters", point.counters ? counters_json(*point.counters) : nlohmann::json(nullptr)},
                       {"dram_bound_flops", or_null(point.dram_bound)},
                       {"l2_bound_flops", or_null(point.l2_bound)},
                       {"smem_bound_flops", or_null(point.smem_bound)},
                       {"arithmetic_bound_flops", or_null(point.arithmetic_bound)},
                       {"roof", point.roof.empty() ? nlohmann::json(nullptr) : nlohmann::json(point.roof)},
                       {"share_of_roof", or_null(point.share)},
                       {"above_roof", point.above.empty() ? nlohmann::json(nullptr) : nlohmann::json(point.above)}});
  }
  return out;
}

std::string roofline_report_csv(const std::vector<RooflinePoint>& points) {
  std::vector<std::string> columns = result_columns();
  columns.insert(columns.end(), {"time_s", "speed_flop_per_s", "dram_ceiling_byte_per_s", "l2_ceiling_byte_per_s",
                                 "arithmetic_ceiling_sm_clock_hz", "dram_flop_per_byte", "l2_flop_per_byte",
                                 "dram_bound_flop_per_s", "l2_bound_flop_per_s", "arithmetic_bound_flop_per_s", "roof",
                                 "share_of_roof", "smem_ceiling_byte_per_s", "smem_bound_flop_per_s",
                                 "dram_measured_byte", "l2_measured_byte", "smem_measured_byte"});
  CsvWriter csv(columns);
  for (const RooflinePoint& point : points) {
    const session::RankedVariant& best = point.result->answer.best();
    const auto ceiling = [&](double Ceilings::*member) {
      return point.ceilings ? csv_number((*point.ceilings).*member) : std::string();
    };
    std::vector<std::string> cells = result_cells(*point.result);
    cells.insert(
        cells.end(),
        {csv_number(best.time_s), csv_number(best.tflops * kTera), ceiling(&Ceilings::dram_bytes_per_s),
         ceiling(&Ceilings::l2_bytes_per_s), ceiling(&Ceilings::sm_clock_hz), csv_number(point.intensity(point.dram)),
         csv_number(point.intensity(point.l2)), csv_number(point.dram_bound), csv_number(point.l2_bound),
         csv_number(point.arithmetic_bound), point.roof, csv_number(point.share),
         csv_number(point.ceilings ? point.ceilings->smem_bytes_per_s : std::nullopt), csv_number(point.smem_bound),
         csv_number(point.dram.measured), csv_number(point.l2.measured), csv_number(point.smem.measured)});
    csv.add_row(cells);
  }
  return csv.text();
}

}  // namespace pgtune::tool
