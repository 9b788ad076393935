// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/roofline_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tool/pgtune/cli/terminal/csv_writer.hpp"
#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/report/result_columns.hpp"
#include "tuner/model/json.hpp"
#include "tuner/space/estimate.hpp"

namespace pgtune::tool {
namespace {

constexpr double kTera = 1e12;

/// The built-in templates by content, so that a result finds the text it was measured with.
std::map<std::string, space::TemplateDefinition> templates_by_hash(const Catalogue& catalogue) {
  std::map<std::string, space::TemplateDefinition> out;
  for (const std::string& name : catalogue.names()) {
    space::TemplateDefinition definition = catalogue.load(name);
    out.emplace(definition.content_hash, std::move(definition));
  }
  return out;
}

std::optional<double> l2_bytes(const std::map<std::string, space::TemplateDefinition>& templates,
                               const StoredResult& result) {
  const auto found = templates.find(result.row.variant_origin.content_hash);
  if (found == templates.end()) return std::nullopt;
  const auto bytes = space::l2_bytes(found->second, result.answer.best().variant, result.problem, result.device);
  return bytes && *bytes && **bytes > 0 ? *bytes : std::nullopt;
}

void add_bounds(RooflinePoint& point, const Ceilings& ceilings) {
  const StoredResult& result = *point.result;
  if (ceilings.dram_bytes_per_s > 0 && conditions_of(result).l2 == L2State::kRotated)
    point.dram_bound = point.dram_intensity * ceilings.dram_bytes_per_s;
  if (ceilings.l2_bytes_per_s > 0 && point.l2_intensity) point.l2_bound = *point.l2_intensity * ceilings.l2_bytes_per_s;
  // What an operation computes in is its own affair.
  const auto flops = ceilings.flops.find(std::string(to_string(result.problem.dtype)));
  if (!result.problem.operation && flops != ceilings.flops.end()) point.arithmetic_bound = flops->second;
  double lowest = 0;
  const auto consider = [&](const std::optional<double>& bound, const char* roof) {
    if (!bound || (!point.roof.empty() && *bound >= lowest)) return;
    lowest = *bound;
    point.roof = roof;
  };
  consider(point.dram_bound, "DRAM");
  consider(point.l2_bound, "L2");
  consider(point.arithmetic_bound, "arithmetic");
  if (lowest > 0) point.share = result.answer.best().tflops * kTera / lowest;
}

/// At most five columns: a decimal below 1000, none above.
std::string short_number(double value) {
  constexpr double kWithoutDecimals = 999.95;
  return fmt::format("{:.{}f}", value, value < kWithoutDecimals ? 1 : 0);
}

std::string tera(const std::optional<double>& value) { return value ? short_number(*value / kTera) : "-"; }

/// As the columns are called.
std::string short_roof(const std::string& roof) { return roof.empty() ? "-" : roof == "arithmetic" ? "arith" : roof; }

/// DRAM, L2, and the arithmetic of the dtypes in `points`.
std::string ceilings_text(const Ceilings& ceilings, const std::vector<const RooflinePoint*>& points) {
  std::set<std::string> dtypes;
  for (const RooflinePoint* point : points) dtypes.emplace(to_string(point->result->problem.dtype));
  std::string text = fmt::format("roofs: DRAM {:.0f} GB/s, L2 {:.0f} GB/s", ceilings.dram_bytes_per_s / 1e9,
                                 ceilings.l2_bytes_per_s / 1e9);
  for (const auto& [dtype, flops] : ceilings.flops) {
    if (dtypes.contains(dtype)) text += fmt::format(", {} {:.1f} TFLOP/s", dtype, flops / kTera);
  }
  if (ceilings.sm_clock_hz > 0 && dtypes.contains("f32"))
    text += fmt::format(" (f32 at {:.0f} MHz)", ceilings.sm_clock_hz / 1e6);
  return text;
}

std::string table_text(const std::vector<const RooflinePoint*>& points) {
  TextTable table({{"problem", Align::kLeft, true},
                   {"TFLOP/s", Align::kRight},
                   {"F/B", Align::kRight},
                   {"DRAM", Align::kRight},
                   {"F/B", Align::kRight},
                   {"L2", Align::kRight},
                   {"arith", Align::kRight},
                   {"reached", Align::kRight},
                   {"of"}});
  std::map<const StoredResult*, const RooflinePoint*> point_of;
  std::vector<const StoredResult*> results;
  for (const RooflinePoint* point : points) {
    point_of[point->result] = point;
    results.push_back(point->result);
  }
  for (const TableSection& section : table_sections(results)) {
    table.add_section(section.title);
    for (const StoredResult* result : section.results) {
      const RooflinePoint& point = *point_of.at(result);
      table.add_row({row_title(*result), speed_text(result->problem, result->answer.best().time_s),
                     short_number(point.dram_intensity), tera(point.dram_bound),
                     point.l2_intensity ? short_number(*point.l2_intensity) : "-", tera(point.l2_bound),
                     tera(point.arithmetic_bound), point.share ? fmt::format("{:.1f} %", 100 * *point.share) : "-",
                     short_roof(point.roof)});
    }
  }
  return table.text();
}

nlohmann::json or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

}  // namespace

std::vector<RooflinePoint> roofline(const Context& context, const db::Database& database,
                                    const std::vector<StoredResult>& results) {
  const auto templates = templates_by_hash(context.catalogue());
  std::vector<RooflinePoint> points;
  for (const StoredResult& result : results) {
    RooflinePoint point;
    point.result = &result;
    const double flops = result.problem.flops();
    point.dram_intensity = flops / result.problem.traffic_bytes();
    if (const auto bytes = l2_bytes(templates, result)) point.l2_intensity = flops / *bytes;
    point.ceilings = db::find_ceilings(database, result.device, result.row.source);
    if (point.ceilings) add_bounds(point, *point.ceilings);
    points.push_back(std::move(point));
  }
  return points;
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
    for (const std::string& line : wrap_text(roofs, kTextWidth)) terminal.print(line + '\n');
    terminal.print(table_text(members) + '\n');
  }
  terminal.print(
      "F/B: FLOP per byte of DRAM (every operand moved once) and of L2 (what the\n"
      "template reads through it, \"-\" where it does not say); DRAM, L2, arith: what\n"
      "each roof allows, TFLOP/s; reached: the winner's share of the lowest of them.\n"
      "With warm L2 operands may not come from DRAM, so that roof is left out.\n");
  print_marks_legend(terminal, results);
}

nlohmann::json roofline_report_json(const std::vector<RooflinePoint>& points) {
  nlohmann::json out = nlohmann::json::array();
  for (const RooflinePoint& point : points) {
    out.push_back(result_identity(*point.result));
    out.back().update({{"ceilings", point.ceilings ? nlohmann::json(*point.ceilings) : nlohmann::json(nullptr)},
                       {"flops", point.result->answer.best().tflops * kTera},
                       {"dram_flop_per_byte", point.dram_intensity},
                       {"l2_flop_per_byte", or_null(point.l2_intensity)},
                       {"dram_bound_flops", or_null(point.dram_bound)},
                       {"l2_bound_flops", or_null(point.l2_bound)},
                       {"arithmetic_bound_flops", or_null(point.arithmetic_bound)},
                       {"roof", point.roof.empty() ? nlohmann::json(nullptr) : nlohmann::json(point.roof)},
                       {"share_of_roof", or_null(point.share)}});
  }
  return out;
}

std::string roofline_report_csv(const std::vector<RooflinePoint>& points) {
  std::vector<std::string> columns = result_columns();
  columns.insert(columns.end(),
                 {"time_s", "speed_flop_per_s", "dram_ceiling_byte_per_s", "l2_ceiling_byte_per_s",
                  "arithmetic_ceiling_sm_clock_hz", "dram_flop_per_byte", "l2_flop_per_byte", "dram_bound_flop_per_s",
                  "l2_bound_flop_per_s", "arithmetic_bound_flop_per_s", "roof", "share_of_roof"});
  CsvWriter csv(columns);
  for (const RooflinePoint& point : points) {
    const session::RankedVariant& best = point.result->answer.best();
    const auto ceiling = [&](double Ceilings::*member) {
      return point.ceilings ? csv_number((*point.ceilings).*member) : std::string();
    };
    std::vector<std::string> cells = result_cells(*point.result);
    cells.insert(cells.end(),
                 {csv_number(best.time_s), csv_number(best.tflops * kTera), ceiling(&Ceilings::dram_bytes_per_s),
                  ceiling(&Ceilings::l2_bytes_per_s), ceiling(&Ceilings::sm_clock_hz), csv_number(point.dram_intensity),
                  csv_number(point.l2_intensity), csv_number(point.dram_bound), csv_number(point.l2_bound),
                  csv_number(point.arithmetic_bound), point.roof, csv_number(point.share)});
    csv.add_row(cells);
  }
  return csv.text();
}

}  // namespace pgtune::tool
