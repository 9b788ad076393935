// SPDX-License-Identifier: MIT
#include "tests/exported/sample_operations.hpp"

#include <algorithm>

#include "tests/gpu/operation_cases.hpp"
#include "tool/pgtune/cli/catalogue.hpp"
#include "tool/pgtune/export/export_sources.hpp"
#include "tuner/space/enumerate.hpp"

namespace pgtune::tool::test {
namespace {

/// The legal variant of the problem that stands at so many quarters of them.
void add_variant(CallableHeader& content, const space::TemplateDefinition& definition, const Problem& problem,
                 std::size_t quarters) {
  const auto all = space::legal_variants(definition, problem, sample_device());
  if (all && !all->variants.empty())
    add_sample(content, definition, all->variants[all->variants.size() * quarters / 4], problem);
}

}  // namespace

Result<Problem> sized(const CallableHeader& content, const Problem& like, const std::vector<std::int64_t>& sizes) {
  const auto definition = std::find_if(content.operations.begin(), content.operations.end(),
                                       [&](const auto& known) { return known.name == like.operation->name; });
  std::vector<NamedValue> named;
  for (std::size_t i = 0; i < sizes.size(); ++i) named.push_back({definition->dimensions[i].name, sizes[i]});
  return operation::make_problem(*definition, named,
                                 like.operation->has_dtypes ? std::optional(like.dtype) : std::nullopt);
}

CallableHeader sample_operations() {
  CallableHeader content = sample_header("best");
  const Catalogue catalogue;
  for (const std::filesystem::path& path : gpu::operation_files()) {
    const LoadedOperation loaded = catalogue.operation(path.string());
    content.operations.push_back(loaded.definition);
    std::vector<std::optional<Dtype>> dtypes(loaded.definition.dtypes.begin(), loaded.definition.dtypes.end());
    if (dtypes.empty()) dtypes.emplace_back();
    for (const std::optional<Dtype> dtype : dtypes) {
      std::int64_t size = 1024;
      const auto next = [&] {
        auto problem = operation::make_problem(loaded.definition, gpu::usual_sizes(loaded.definition, size), dtype);
        size += 256;
        return std::move(problem).value();
      };
      const space::TemplateSet set = catalogue.select("", next(), &loaded);
      size = 1024;
      for (const space::TemplateDefinition& definition : set.definitions()) {
        for (std::size_t quarters = 0; quarters < 4; ++quarters) add_variant(content, definition, next(), quarters);
      }
    }
  }
  return content;
}

void add_operations(CallableHeader& content, const std::string& operation) {
  const CallableHeader all = sample_operations();
  for (const operation::OperationDefinition& definition : all.operations) {
    if (definition.name == operation) content.operations.push_back(definition);
  }
  for (const ExportedEntry& entry : all.entries) {
    const ExportedVariant& variant = all.variants[entry.variant];
    if (entry.problem.operation->name == operation)
      add_sample(content, all.templates[variant.template_number], variant.variant, entry.problem);
  }
}

}  // namespace pgtune::tool::test
