// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/result_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>

#include "tool/pgtune/cli/catalogue.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/report/answer_text.hpp"
#include "tool/pgtune/report/result_json.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/model/json.hpp"
#include "tuner/operation/gemm_operation.hpp"

namespace pgtune::tool {

Conditions conditions_of(const StoredResult& result) {
  const auto conditions = parse_conditions(result.row.conditions_key);
  if (!conditions)
    throw CommandError(ErrorKind::kDatabase,
                       fmt::format("the result of session {} for '{}' has conditions that cannot be read ({}). Search "
                                   "again with --force to replace it.",
                                   result.row.session, result.row.problem_key, conditions.error().message));
  return *conditions;
}

std::string problem_options(const StoredResult& result) {
  return problem_options_text(result.problem, Catalogue().selector_of(result.row.variant_origin.name, result.problem));
}

std::string condition_options(const StoredResult& result) {
  const Conditions conditions = conditions_of(result), usual;
  std::string options;
  if (conditions.regime != usual.regime) options += fmt::format(" --regime {}", to_string(conditions.regime));
  if (conditions.l2 != usual.l2) options += fmt::format(" --l2 {}", to_string(conditions.l2));
  if (conditions.data != usual.data) options += fmt::format(" --data {}", to_string(conditions.data));
  if (conditions.data_seed != usual.data_seed) options += fmt::format(" --data-seed {}", conditions.data_seed);
  if (conditions.locked_sm_clock_hz > 0)
    options += fmt::format(" --lock-clocks={:.0f}", conditions.locked_sm_clock_hz / 1e6);
  return options;
}

std::vector<std::string> result_columns() {
  return {"problem",
          "dtype",
          "out",
          "layout",
          "m",
          "n",
          "k",
          "batch",
          "epilogue",
          "device",
          "device_class",
          "device_uuid",
          "driver",
          "source",
          "template",
          "template_hash",
          "variant",
          "finished_at",
          "regime",
          "l2",
          "data",
          "data_seed",
          "locked_sm_clock_hz",
          "sampling"};
}

std::vector<std::string> result_cells(const StoredResult& result) {
  const Problem& problem = result.problem;
  const Conditions conditions = conditions_of(result);
  const Variant& variant = result.answer.best().variant;
  const bool locked = conditions.locked_sm_clock_hz > 0;
  return {problem.title(),
          std::string(to_string(problem.dtype)),
          std::string(to_string(problem.type_of_c())),
          problem.title_parts().layout,
          std::to_string(problem.m),
          std::to_string(problem.n),
          std::to_string(problem.k),
          std::to_string(problem.batch),
          to_string(problem.epilogue),
          result.device.name,
          device_class(result.device).text(),
          result.device.uuid,
          result.device.driver_version,
          std::string(source_word(result)),
          variant.template_name,
          result.row.variant_origin.content_hash,
          variant.key(),
          result.row.finished_at,
          std::string(to_string(conditions.regime)),
          std::string(to_string(conditions.l2)),
          std::string(to_string(conditions.data)),
          std::to_string(conditions.data_seed),
          locked ? csv_number(conditions.locked_sm_clock_hz) : std::string(),
          std::string(to_string(result.answer.sampling))};
}

nlohmann::json result_identity(const StoredResult& result) {
  return {{"problem", result.problem},
          {"device", result.device.name},
          {"device_class", device_class(result.device).text()},
          {"device_uuid", result.device.uuid},
          {"source", source_word(result)},
          {"template", result.answer.best().variant.template_name},
          {"variant", result.answer.best().variant.key()},
          {"conditions", conditions_json(conditions_of(result))},
          {"sampling", to_string(result.answer.sampling)}};
}

std::vector<ResultGroup> grouped(const std::vector<StoredResult>& results) {
  std::map<std::string, ResultGroup> groups;
  for (const StoredResult& result : results) {
    const std::string headline = fmt::format("{}, driver {}; {}", device_class(result.device).hardware(),
                                             result.device.driver_version, conditions_text(conditions_of(result)));
    groups[headline].headline = headline;
    groups[headline].results.push_back(&result);
  }
  std::vector<ResultGroup> out;
  for (auto& [headline, group] : groups) out.push_back(std::move(group));
  return out;
}

void print_headline(Terminal& terminal, const ResultGroup& group) {
  print_wrapped(terminal, group.headline, Style::kBold);
}

bool is_recorded(const StoredResult& result) { return result.row.recorded; }

std::string_view source_word(const StoredResult& result) { return is_recorded(result) ? "recorded" : "gpu"; }

std::string marked_title(const StoredResult& result) {
  return result.problem.title() + (is_recorded(result) ? " *" : "");
}

namespace {

/// "bf16 nt", "softmax bf16, GB/s, beside a copy": what the rows of a section have in common.
std::string section_title(const StoredResult& result, SectionUnit unit) {
  const Problem& problem = result.problem;
  const TitleParts parts = problem.title_parts();
  std::string title = parts.kind + (parts.layout.empty() ? "" : " ") + parts.layout;
  if (operation::gemm_baseline(problem) != nullptr) return title;
  const std::string beside = baseline_name(result.answer);
  if (unit == SectionUnit::kTold) title += fmt::format(", {}", problem.speed_unit());
  return fmt::format("{}, beside {}", title, beside == kCopyBaseline ? "a copy" : beside);
}

}  // namespace

std::vector<TableSection> table_sections(const std::vector<const StoredResult*>& results, SectionUnit unit) {
  std::map<std::pair<KindOrder, std::string>, TableSection> sections;
  for (const StoredResult* result : results) {
    const Problem& problem = result->problem;
    const std::string kind = section_title(*result, unit);
    TableSection& section = sections[{problem.kind_order(), kind}];
    section.title = kind;
    section.results.push_back(result);
  }
  std::vector<TableSection> out;
  for (auto& [key, section] : sections) out.push_back(std::move(section));
  return out;
}

std::string row_title(const StoredResult& result) {
  TitleParts parts = result.problem.title_parts();
  bool after_word = false;
  for (char& c : parts.further) {
    if (c != ' ') continue;
    if (after_word) c = '=';
    after_word = !after_word;
  }
  return parts.shape + (is_recorded(result) ? "*" : "") + parts.further;
}

void print_marks_legend(Terminal& terminal, const std::vector<StoredResult>& results) {
  if (std::any_of(results.begin(), results.end(), is_recorded)) terminal.print("* recorded on another machine\n");
}

void print_baseline_legend(Terminal& terminal, const std::vector<StoredResult>& results) {
  for (const Activation activation : all_activations()) {
    if (!cublaslt_fuses(activation) && std::any_of(results.begin(), results.end(), [&](const StoredResult& result) {
          return result.problem.epilogue.activation == activation;
        }))
      terminal.print(fmt::format("cuBLASLt has no {}: it is compared without it\n", to_string(activation)));
  }
  std::set<std::string> lines;
  std::map<std::string, std::vector<std::string>> enlarged;  // problems by the library's computation
  std::map<std::string, std::vector<std::string>> copied;    // and by the copies in its launches
  for (const StoredResult& result : results) {
    for (const OtherBaseline& other : result.answer.baseline.others) {
      if (!other.unavailable.empty())
        lines.insert(fmt::format("{} cannot compute {}: {}", other.library, result.problem.title(), other.unavailable));
    }
    const std::string& shape = result.answer.baseline.enlarged_shape;
    if (!shape.empty()) enlarged[shape].push_back(result.problem.title());
    const std::string& operands = result.answer.baseline.copied;
    if (!operands.empty()) copied[operands].push_back(result.problem.title());
  }
  for (const auto& [shape, problems] : enlarged)
    lines.insert(fmt::format("cuBLASLt was timed on {} for {}, with zeros added", shape, fmt::join(problems, "; ")));
  for (const auto& [operands, problems] : copied)
    lines.insert(fmt::format("cuBLASLt was timed with copies of {} for {}", operands, fmt::join(problems, "; ")));
  for (const std::string& line : lines) print_wrapped(terminal, line);
}

}  // namespace pgtune::tool
