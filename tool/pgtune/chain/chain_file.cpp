// SPDX-License-Identifier: MIT
#include "tool/pgtune/chain/chain_file.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"

namespace pgtune::tool {

ChainFile::ChainFile(const Catalogue& catalogue, const std::string& path)
    : catalogue_(&catalogue), definition_(value_or_throw(chain::load_chain(path))) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  for (const chain::StepSpec& step : definition_.steps) {
    if (step.gemm || operations_.contains(step.operation)) continue;
    std::string selector = step.operation;
    if (Catalogue::is_path(selector)) {
      selector = (folder / selector).lexically_normal().string();
      if (!Catalogue::is_path(selector)) selector = "./" + selector;
    }
    try {
      operations_.emplace(step.operation, catalogue.operation(selector));
    } catch (const CommandError& error) {
      throw CommandError(error.kind(), fmt::format("{}: step '{}': {}", path, step.name, error.what()));
    }
    selectors_[step.operation] = selector;
  }
}

const LoadedOperation* ChainFile::operation_of(std::size_t step) const {
  const auto found = operations_.find(definition_.steps[step].operation);
  return found == operations_.end() ? nullptr : &found->second;
}

Chain ChainFile::make(const std::vector<NamedValue>& sizes, std::optional<Dtype> dtype) const {
  chain::Operations operations;
  for (const auto& [name, operation] : operations_) operations.emplace(name, operation.definition);
  return value_or_throw(chain::make_chain(definition_, operations, sizes, dtype));
}

space::TemplateSet ChainFile::templates_of(std::size_t step, const Problem& problem) const {
  return catalogue_->select("", problem, operation_of(step));
}

std::string ChainFile::search_command(std::size_t step, const Problem& problem) const {
  std::string options = problem_options_text(problem);
  const auto selector = selectors_.find(definition_.steps[step].operation);
  if (const auto at = options.find(kNobodysFile); at != std::string::npos && selector != selectors_.end())
    options.replace(at, kNobodysFile.size(), selector->second);
  return "pgtune search " + options;
}

}  // namespace pgtune::tool
