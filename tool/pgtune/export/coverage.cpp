// SPDX-License-Identifier: MIT
#include "tool/pgtune/export/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "exported/largest_loss.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/shape_list.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/export/export_sources.hpp"
#include "tool/pgtune/export/neighbour_loss.hpp"
#include "tool/pgtune/export/result_choice.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/model/json.hpp"
#include "tuner/space/enumerate.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

/// The radius within which neighbours of the problem are used; null: none are.
const MeasuredLoss* chosen_loss(const CallableHeader& content, const Problem& problem) {
  const std::string operation = problem.operation_name();
  const auto found = std::find_if(content.losses.begin(), content.losses.end(), [&](const MeasuredLoss& loss) {
    return loss.operation == operation && loss.dtype == problem.dtype && loss.chosen;
  });
  return found == content.losses.end() ? nullptr : &*found;
}

/// The nearest problem that the variant was tuned for.
std::string nearest_title(const CallableHeader& content, std::size_t variant, const Problem& problem) {
  const ExportedEntry* nearest = nullptr;
  for (const ExportedEntry& entry : content.entries) {
    if (entry.variant != variant || entry.guessed_loss) continue;
    if (nearest == nullptr || problem_distance(entry.problem, problem) < problem_distance(nearest->problem, problem))
      nearest = &entry;
  }
  return nearest->problem.title();
}

/// By the first family there that a policy without wishes takes.
std::optional<Served> served_by_family(const CallableHeader& content, const Problem& problem,
                                       std::size_t device_class) {
  for (const ExportedFamily& known : content.families) {
    if (known.device_class != device_class || !known.family.covers(problem)) continue;
    const auto loss = known.family.loss();
    if (!loss || loss->largest > pgtune_export::kLargestLoss) return std::nullopt;
    const auto interval = std::find_if(known.intervals.begin(), known.intervals.end(),
                                       [&](const auto& one) { return problem.m <= one.last_m; });
    for (const std::optional<std::size_t> number : {std::optional(interval->variant), interval->spare}) {
      if (!number) continue;
      const ExportedVariant& variant = content.variants[*number];
      const auto illegal = space::why_illegal(content.templates[variant.template_number], variant.variant, problem,
                                              content.device_classes[device_class]);
      if (illegal && !*illegal) return Served{"family", *number, loss->median, known.family.title()};
    }
    return std::nullopt;
  }
  return std::nullopt;
}

/// Green where it was measured, yellow where a loss is only expected.
void add_row(TextTable& table, const Problem& problem, const Served& served) {
  const std::string loss = !served.expected_loss        ? ""
                           : *served.expected_loss == 0 ? "0 %"
                                                        : fmt::format("{:.1f} %", 100 * *served.expected_loss);
  const bool exact = std::string_view(served.how) == "exact";
  const Style style = exact ? Style::kGood : served.variant ? Style::kUnclear : Style::kPlain;
  table.add_row({problem.title(), served.how, loss, served.tuned_for}, style);
}

json served_json(const CallableHeader& content, const Problem& problem, const Served& served) {
  const Variant* const variant = served.variant ? &content.variants[*served.variant].variant : nullptr;
  return {{"problem", problem},
          {"served", served.how},
          {"expected_loss", or_null(served.expected_loss)},
          {"tuned_for", served.tuned_for.empty() ? json(nullptr) : json(served.tuned_for)},
          {"template", variant == nullptr ? json(nullptr) : json(variant->template_name)},
          {"variant", variant == nullptr ? json(nullptr) : json(variant->key())}};
}

}  // namespace

Served served(const CallableHeader& content, const Problem& problem, std::size_t device_class) {
  const auto exact = std::find_if(content.entries.begin(), content.entries.end(), [&](const ExportedEntry& entry) {
    return entry.device_class == device_class && entry.problem == problem;
  });
  if (exact != content.entries.end() && !exact->guessed_loss) return {"exact", exact->variant, 0, ""};
  if (auto family = served_by_family(content, problem, device_class)) return std::move(*family);
  if (exact != content.entries.end() && *exact->guessed_loss <= pgtune_export::kLargestLoss)
    return {"guess", exact->variant, exact->guessed_loss, ""};
  const MeasuredLoss* const loss = chosen_loss(content, problem);
  const auto variant =
      loss == nullptr ? std::nullopt : neighbour(content, problem, content.device_classes[device_class], loss->radius);
  if (!variant || *loss->median > pgtune_export::kLargestLoss) return {};
  return {"neighbour", variant, loss->median, nearest_title(content, *variant, problem)};
}

std::vector<Problem> problems_of_sizes(const CallableHeader& content, const std::string& file) {
  std::vector<Problem> problems;
  const auto lines = parse_size_list(read_shape_list(file), file);
  for (const Problem& kind : operation_kinds(content)) {
    const auto definition = std::find_if(content.operations.begin(), content.operations.end(),
                                         [&](const auto& known) { return known.name == kind.operation->name; });
    const std::optional<Dtype> dtype = kind.operation->has_dtypes ? std::optional(kind.dtype) : std::nullopt;
    for (const auto& [line, text] : lines) {
      auto problem = operation::parse_sizes(text).and_then(
          [&](const std::vector<NamedValue>& sizes) { return operation::make_problem(*definition, sizes, dtype); });
      if (!problem) throw CommandError(fail(problem.error(), fmt::format("{}:{}", file, line)).value());
      problems.push_back(std::move(*problem));
    }
  }
  return problems;
}

std::string coverage_text(const CallableHeader& content, const std::vector<Problem>& problems,
                          const Terminal& terminal) {
  std::string text;
  for (std::size_t i = 0; i < content.device_classes.size(); ++i) {
    TextTable table({{"problem", Align::kLeft, Wrap::kWords},
                     {"served"},
                     {"loss", Align::kRight},
                     {.title = "tuned for", .left_out = 1}});
    for (const Problem& problem : problems) add_row(table, problem, served(content, problem, i));
    text += fmt::format("{}{}\n{}", i == 0 ? "" : "\n", device_class(content.device_classes[i]).hardware(),
                        table.text(terminal));
  }
  return text;
}

json coverage_json(const CallableHeader& content, const std::vector<Problem>& problems) {
  json classes = json::array();
  for (std::size_t i = 0; i < content.device_classes.size(); ++i) {
    json rows = json::array();
    for (const Problem& problem : problems) rows.push_back(served_json(content, problem, served(content, problem, i)));
    classes.push_back(
        {{"hardware", device_class(content.device_classes[i]).hardware()}, {"problems", std::move(rows)}});
  }
  return {{"schema", kJsonSchema}, {"device_classes", std::move(classes)}};
}

}  // namespace pgtune::tool
