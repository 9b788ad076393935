// SPDX-License-Identifier: MIT
#include "tests/gpu/template_cases.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>
#include <variant>

#include "tuner/util/own_files.hpp"

namespace pgtune::gpu {
namespace {

namespace fs = std::filesystem;

/// Variants among which one like another is looked for.
constexpr std::size_t kNearEnough = 20000;

/// Shape suites and presets live beside the templates' JSON; only templates have parameters. Not parsed: a process for
/// each case asks this of all files.
bool is_template(const fs::path& path) {
  return path.extension() == ".json" && read_file(path).value_or("").find("\"parameters\": [") != std::string::npos;
}

std::size_t differences(const Variant& one, const Variant& other) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < one.parameters.size(); ++i) count += one.parameters[i] == other.parameters[i] ? 0U : 1U;
  return count;
}

/// Values worth a build of their own: the smallest and largest number, each label.
std::vector<ParameterValue> extreme_values(const space::Parameter& parameter) {
  if (!std::holds_alternative<std::int64_t>(parameter.values.front())) return parameter.values;
  const auto [low, high] = std::minmax_element(parameter.values.begin(), parameter.values.end());
  return {*low, *high};
}

}  // namespace

std::vector<fs::path> template_files() {
  std::vector<fs::path> paths;
  for (const char* folder : {"configs", "configs/teaching", "tests/templates"}) {
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(fs::path(PGTUNE_SOURCE_DIR) / folder, missing))
      if (entry.is_regular_file() && is_template(entry.path())) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

Result<std::string> shipped_header(const std::string& name) {
  auto text = read_file(fs::path(PGTUNE_SOURCE_DIR) / "templates" / name);
  if (!text) return fail(ErrorKind::kUsage, "no shipped header " + name);
  return std::move(*text);
}

Problem problem_of(std::string_view shape, std::string_view layout) {
  return with_default_strides(with_layout(parse_shape(shape).value(), layout).value()).value();
}

std::vector<Problem> types_of(const space::TemplateDefinition& definition) {
  std::vector<Problem> all;
  for (const Dtype dtype : definition.dtypes) {
    for (const ElementType output : output_types(dtype)) {
      Problem types;
      types.dtype = dtype;
      types.output = output;
      if (definition.computes(types)) all.push_back(types);
    }
  }
  return all;
}

std::vector<Epilogue> epilogues_of(const space::TemplateDefinition& definition) {
  std::vector<Epilogue> all;
  if (definition.fuses_bias) all.push_back({true, Activation::kNone});
  for (const Activation activation : definition.activations) all.push_back({definition.fuses_bias, activation});
  return all;
}

Problem with_types(Problem problem, const Problem& types) {
  problem.dtype = types.dtype;
  problem.output = types.output;
  if (types.dtype == Dtype::kInt8) problem.alpha = std::ceil(problem.alpha);  // whole numbers only
  return with_default_strides(problem).value();
}

std::optional<Variant> nearest(const std::vector<Variant>& legal, const Variant& to, const Assignment* fixed) {
  const Variant* best = nullptr;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const Variant& variant : legal) {
    if (fixed != nullptr && *variant.find(fixed->name) != fixed->value) continue;
    if (const std::size_t own = differences(variant, to); own < least) {
      least = own;
      best = &variant;
    }
  }
  return best == nullptr ? std::nullopt : std::optional<Variant>(*best);
}

std::vector<Variant> extreme_variants(const space::TemplateDefinition& definition, const std::vector<Variant>& legal,
                                      std::size_t most) {
  const Variant usual = definition.default_variant();
  // Of a million variants some are near enough, but a value may be rare.
  std::vector<std::pair<std::size_t, const Variant*>> some;  // with their differences
  for (std::size_t i = 0; i < legal.size(); i += std::max<std::size_t>(legal.size() / kNearEnough, 1))
    some.emplace_back(differences(legal[i], usual), &legal[i]);
  std::vector<Variant> all;
  for (std::size_t i = 0; i < definition.parameters.size(); ++i) {
    for (const ParameterValue& value : extreme_values(definition.parameters[i])) {
      const Assignment fixed{definition.parameters[i].name, value};
      const std::pair<std::size_t, const Variant*>* best = nullptr;
      for (const auto& one : some) {
        if ((best == nullptr || one.first < best->first) && one.second->parameters[i] == fixed) best = &one;
      }
      const auto variant = best != nullptr ? std::optional(*best->second) : nearest(legal, usual, &fixed);
      if (variant && std::find(all.begin(), all.end(), *variant) == all.end()) all.push_back(*variant);
    }
  }
  const std::size_t step = std::max<std::size_t>((all.size() + most - 1) / most, 1);
  std::vector<Variant> kept;
  for (std::size_t i = 0; i < all.size(); i += step) kept.push_back(all[i]);
  return kept;
}

}  // namespace pgtune::gpu
