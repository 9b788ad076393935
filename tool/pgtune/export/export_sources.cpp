// SPDX-License-Identifier: MIT
#include "tool/pgtune/export/export_sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tool/pgtune/export/cpp_names.hpp"

namespace pgtune::tool {
namespace {

/// Nothing if its sizes give a different problem from the stored one.
std::optional<Problem> made_anew(const Problem& stored, const operation::OperationDefinition& definition) {
  auto made = operation::make_problem(definition, stored.operation->sizes,
                                      definition.dtypes.empty() ? std::nullopt : std::optional(stored.dtype));
  return made && made->key() == stored.key() ? std::optional(std::move(*made)) : std::nullopt;
}

std::vector<Problem> kinds_among(const CallableHeader& content, bool gemms) {
  std::vector<Problem> out;
  for (const ExportedVariant& variant : content.variants) {
    if (variant.problem.is_gemm() != gemms) continue;
    const auto same = [&](const Problem& known) { return known.is_of_kind(variant.problem); };
    if (std::none_of(out.begin(), out.end(), same)) out.push_back(variant.problem);
  }
  return out;
}

}  // namespace

std::optional<ExportSources::Source> ExportSources::find(const Problem& stored, const std::string& template_name,
                                                         std::string& why) {
  std::optional<Problem> problem = stored;
  std::optional<std::size_t> number;
  if (stored.is_gemm()) {
    number = template_number(template_name);
  } else {
    const LoadedOperation* const operation = operation_of(*stored.operation, why);
    if (operation == nullptr) return std::nullopt;
    problem = made_anew(stored, operation->definition);
    if (!problem) {
      why = fmt::format("what is stored of it is no problem of the operation {}", operation->definition.name);
      return std::nullopt;
    }
    number = template_number(template_name, *problem, *operation);
  }
  if (!number) {
    why = fmt::format("template {} is not built in; give its JSON with --template", template_name);
    return std::nullopt;
  }
  return Source{std::move(*problem), *number};
}

std::optional<std::size_t> ExportSources::known_template(const std::string& name, const std::string& operation) const {
  const auto known = std::find_if(content_.templates.begin(), content_.templates.end(), [&](const auto& definition) {
    return definition.name == name && definition.operation == operation;
  });
  if (known == content_.templates.end()) return std::nullopt;
  return static_cast<std::size_t>(known - content_.templates.begin());
}

const LoadedOperation* ExportSources::operation_of(const OperationProblem& problem, std::string& why) {
  const LoadedOperation* found = operation_;
  if (found == nullptr || found->definition.name != problem.name) {
    const std::vector<std::string> names = catalogue_.operation_names();
    if (std::find(names.begin(), names.end(), problem.name) == names.end()) {
      why = fmt::format("the operation {} is not built in; give its JSON with --operation", problem.name);
      return nullptr;
    }
    auto& loaded = built_in_[problem.name];
    if (loaded == nullptr) loaded = std::make_unique<LoadedOperation>(catalogue_.operation(problem.name));
    found = loaded.get();
  }
  if (found->definition.content_hash == problem.content_hash) {
    const auto& buffers = found->definition.buffers;
    const auto& dimensions = found->definition.dimensions;
    if (std::none_of(buffers.begin(), buffers.end(), [](const auto& buffer) { return buffer.when.has_value(); }) &&
        std::none_of(dimensions.begin(), dimensions.end(), [](const auto& size) { return size.least < 1; }))
      return found;
    why = fmt::format(
        "the operation {} has inputs that are absent for some sizes, or sizes of 0, and calls of exported kernels have "
        "neither",
        problem.name);
    return nullptr;
  }
  why = fmt::format("tuned with another version of the operation {}", problem.name);
  return nullptr;
}

std::optional<std::size_t> ExportSources::template_number(const std::string& name, const Problem& problem,
                                                          const LoadedOperation& operation) {
  if (const auto known = known_template(name, operation.definition.name)) return known;
  const std::string selector = Catalogue::is_path(template_selector_) ? template_selector_ : "";
  const space::TemplateSet set = catalogue_.select(selector, problem, &operation);
  for (const space::TemplateDefinition& definition : set.definitions()) {
    if (definition.name != name) continue;
    content_.templates.push_back(definition);
    const auto same = [&](const auto& known) { return known.name == operation.definition.name; };
    if (std::none_of(content_.operations.begin(), content_.operations.end(), same))
      content_.operations.push_back(operation.definition);
    return content_.templates.size() - 1;
  }
  return std::nullopt;
}

std::optional<std::size_t> ExportSources::template_number(const std::string& name) {
  if (const auto known = known_template(name, std::string(kGemmName))) return known;
  const std::vector<std::string> names = catalogue_.names();
  if (Catalogue::is_path(template_selector_)) {
    space::TemplateDefinition own = catalogue_.load(template_selector_);
    if (own.name != name) return std::nullopt;
    content_.templates.push_back(std::move(own));
  } else if (std::find(names.begin(), names.end(), name) != names.end()) {
    content_.templates.push_back(catalogue_.load(name));
  } else {
    return std::nullopt;
  }
  return content_.templates.size() - 1;
}

void drop_unused_sources(CallableHeader& content) {
  std::vector<space::TemplateDefinition> kept;
  std::map<std::size_t, std::size_t> numbers;
  for (const ExportedVariant& variant : content.variants) {
    if (!numbers.emplace(variant.template_number, kept.size()).second) continue;
    kept.push_back(std::move(content.templates[variant.template_number]));
  }
  content.templates = std::move(kept);
  for (ExportedVariant& variant : content.variants) variant.template_number = numbers.at(variant.template_number);
  for (KernelImage& image : content.images) image.template_number = numbers.at(image.template_number);
  std::erase_if(content.operations, [&](const operation::OperationDefinition& definition) {
    return std::none_of(content.templates.begin(), content.templates.end(),
                        [&](const auto& known) { return known.operation == definition.name; });
  });
}

std::vector<Problem> gemm_kinds(const CallableHeader& content) { return kinds_among(content, true); }
std::vector<Problem> operation_kinds(const CallableHeader& content) { return kinds_among(content, false); }
bool has_gemms(const CallableHeader& content) { return !gemm_kinds(content).empty(); }

std::vector<const ExportedEntry*> gemm_entries(const CallableHeader& content) {
  std::vector<const ExportedEntry*> out;
  for (const ExportedEntry& entry : content.entries) {
    if (entry.problem.is_gemm()) out.push_back(&entry);
  }
  return out;
}

bool stands_before(const Problem& a, const Problem& b) { return a.is_gemm() && !b.is_gemm(); }

std::vector<Problem> kinds_of(const CallableHeader& content) {
  std::vector<Problem> out = gemm_kinds(content);
  for (Problem& kind : operation_kinds(content)) out.push_back(std::move(kind));
  return out;
}

std::size_t kind_number(const std::vector<Problem>& kinds, const Problem& problem) {
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const Problem& known) { return known.is_of_kind(problem); });
  return static_cast<std::size_t>(found - kinds.begin());
}

std::size_t program_number(const CallableHeader& content, std::size_t entry) {
  const std::vector<Problem> kinds = kinds_of(content);
  const std::size_t gemms = gemm_kinds(content).size();
  // GEMMs of all kinds are in one list, in the order of the entries.
  const auto place = [&](const Problem& problem) {
    const std::size_t kind = kind_number(kinds, problem);
    return kind < gemms ? 0 : kind;
  };
  const std::size_t own = place(content.entries[entry].problem);
  std::size_t before = 0;
  for (std::size_t i = 0; i < content.entries.size(); ++i) {
    const std::size_t other = place(content.entries[i].problem);
    if (other < own || (other == own && i < entry)) ++before;
  }
  return before;
}

std::string kind_name(const Problem& problem) {
  const OperationProblem& operation = *problem.operation;
  return cpp_name(operation.has_dtypes ? fmt::format("{}_{}", operation.name, to_string(problem.dtype))
                                       : operation.name);
}

}  // namespace pgtune::tool
