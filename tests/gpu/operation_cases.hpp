// SPDX-License-Identifier: MIT
// Operations and their templates, shipped or kept in examples/ and the tests, for tests that take them all.
#pragma once

#include <algorithm>
#include <filesystem>
#include <vector>

#include "tests/gpu/template_cases.hpp"
#include "tuner/operation/operation_definition.hpp"
#include "tuner/template/template_definition.hpp"

namespace pgtune::gpu {

/// The JSON files of all operations but GEMM, which nothing loads by a path, in order.
[[nodiscard]] inline std::vector<std::filesystem::path> operation_files() {
  std::vector<std::filesystem::path> paths;
  const std::filesystem::path source = PGTUNE_SOURCE_DIR;
  for (const auto& entry : std::filesystem::directory_iterator(source / "operations"))
    if (entry.path().extension() == ".json" && entry.path().stem() != "gemm") paths.push_back(entry.path());
  std::error_code missing;
  for (const auto& folder : std::filesystem::directory_iterator(source / "examples/operations", missing)) {
    const auto path = folder.path() / (folder.path().filename().string() + ".json");
    if (std::filesystem::exists(path)) paths.push_back(path);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Sizes that are even and large enough for each of its templates to have something to do.
[[nodiscard]] inline std::vector<NamedValue> usual_sizes(const operation::OperationDefinition& definition,
                                                         std::int64_t size = 1024) {
  std::vector<NamedValue> sizes;
  for (const operation::Dimension& dimension : definition.dimensions) sizes.push_back({dimension.name, size});
  return sizes;
}

/// The templates it names, those that it is compared with among them.
[[nodiscard]] inline std::vector<Result<space::TemplateDefinition>> templates_of(
    const std::filesystem::path& json_path, const operation::OperationDefinition& definition) {
  const space::OperationInterface interface = definition.interface();
  std::vector<Result<space::TemplateDefinition>> out;
  for (const std::string& path : definition.templates)
    out.push_back(space::load_template(json_path.parent_path() / path, shipped_header, &interface));
  for (const OperationBaseline& baseline : definition.baselines) {
    const auto* const named = std::get_if<TemplateBaseline>(&baseline);
    if (named == nullptr) continue;
    out.push_back(space::load_template(json_path.parent_path() / named->selector, shipped_header, &interface));
  }
  return out;
}

}  // namespace pgtune::gpu
