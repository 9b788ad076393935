// SPDX-License-Identifier: MIT
// A chain's file with the operations and templates of its steps.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tool/pgtune/cli/catalogue.hpp"
#include "tuner/chain/chain_definition.hpp"

namespace pgtune::tool {

class ChainFile {
 public:
  /// Operations by path lie relative to the file. Throws CommandError (usage) naming what is wrong.
  ChainFile(const Catalogue& catalogue, const std::string& path);

  [[nodiscard]] const chain::ChainDefinition& definition() const { return definition_; }
  /// Throws CommandError (usage) as chain::make_chain().
  [[nodiscard]] Chain make(const std::vector<NamedValue>& sizes, std::optional<Dtype> dtype) const;
  /// What computes `problem` as that step: all templates that a search for it takes. Throws CommandError (usage) where
  /// there are none.
  [[nodiscard]] space::TemplateSet templates_of(std::size_t step, const Problem& problem) const;
  /// "pgtune search --operation softmax --size M=16,N=64": what finds the step's best variant.
  [[nodiscard]] std::string search_command(std::size_t step, const Problem& problem) const;

 private:
  [[nodiscard]] const LoadedOperation* operation_of(std::size_t step) const;

  const Catalogue* catalogue_;
  chain::ChainDefinition definition_;
  std::map<std::string, LoadedOperation> operations_;  ///< by what the steps call them
  std::map<std::string, std::string> selectors_;       ///< by the same: a name, or the path from here
};

}  // namespace pgtune::tool
