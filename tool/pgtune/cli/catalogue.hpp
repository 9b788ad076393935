// SPDX-License-Identifier: MIT
// The templates and operations pgtune knows: those built into it, and a user's own by path.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/problem.hpp"
#include "tuner/operation/operation_definition.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

/// An operation and where its templates' paths begin.
struct LoadedOperation {
  operation::OperationDefinition definition;
  std::string folder;
  bool is_built_in = false;
};

/// Stands in commands that are printed for a user's own file, whose place nobody keeps.
inline constexpr std::string_view kNobodysFile = "FILE.json";

class Catalogue {
 public:
  /// Whether a template is selected by a path: anything with a '/' or ending in ".json".
  [[nodiscard]] static bool is_path(const std::string& selector);

  /// Names of the built-in templates that searches of GEMMs take, sorted.
  [[nodiscard]] std::vector<std::string> names() const;
  /// The same, and behind them those of the built-in operations.
  [[nodiscard]] std::vector<std::string> all_names() const;

  /// `selector`: a built-in name, of a template for teaching or of a built-in operation too, or the path of a
  /// template's JSON, which is GEMM's where `operation` is null. Throws CommandError (usage) with the names there are,
  /// or what is wrong with the file.
  [[nodiscard]] space::TemplateDefinition load(const std::string& selector,
                                               const LoadedOperation* operation = nullptr) const;

  /// What --template means: the named one, or with an empty selector every built-in template for the problem's types.
  /// Throws CommandError (usage) where no template fits.
  [[nodiscard]] space::TemplateSet select(const std::string& selector, const Problem& problem) const;
  /// The same for a problem of `operation`, whose own templates an empty selector means; of GEMM where it is null. With
  /// the templates of the operation's baselines; throws likewise where one of them is none or lacks its variant.
  [[nodiscard]] space::TemplateSet select(const std::string& selector, const Problem& problem,
                                          const LoadedOperation* operation) const;

  /// Names of the templates that searches of the operation's problems take; none where it is not built in.
  [[nodiscard]] std::vector<std::string> templates_of(const std::string& operation) const;
  /// What --template says for a template of that name: nothing where commands take it unasked for the problem, its name
  /// where it is built in, else kNobodysFile. Nothing for an operation of a user's own, which lists its templates
  /// itself.
  [[nodiscard]] std::string selector_of(const std::string& name, const Problem& problem) const;

  /// `selector`: a built-in name, or the path of an operation's JSON. Throws CommandError (usage) likewise.
  [[nodiscard]] LoadedOperation operation(const std::string& selector) const;
  /// Names of the built-in operations, sorted; GEMM is none of them.
  [[nodiscard]] std::vector<std::string> operation_names() const;
};

}  // namespace pgtune::tool
