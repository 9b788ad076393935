// SPDX-License-Identifier: MIT
// The templates and operations that pgtune knows: built-in ones, and a user's own by path.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/problem.hpp"
#include "tuner/operation/operation_definition.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

/// An operation and the base folder of its templates' paths.
struct LoadedOperation {
  operation::OperationDefinition definition;
  std::string folder;
  bool is_built_in = false;
};

/// Replaces a user's own file in printed commands, because its path is not stored.
inline constexpr std::string_view kNobodysFile = "FILE.json";

class Catalogue {
 public:
  /// This one, with folders in which users' templates find headers: --include-folder.
  [[nodiscard]] Catalogue with_include_folders(const std::vector<std::string>& folders) const {
    Catalogue out = *this;
    out.include_folders_.assign(folders.begin(), folders.end());
    return out;
  }
  [[nodiscard]] const std::vector<std::filesystem::path>& include_folders() const { return include_folders_; }

  /// Whether a template is selected by a path: anything with a '/' or ending in ".json".
  [[nodiscard]] static bool is_path(const std::string& selector);

  /// Names of the built-in templates that searches of GEMMs use, sorted.
  [[nodiscard]] std::vector<std::string> names() const;
  /// The same, followed by those of the built-in operations.
  [[nodiscard]] std::vector<std::string> all_names() const;

  /// `selector`: a built-in name (also of a template for teaching or of a built-in operation), or the path of a
  /// template's JSON, which is GEMM's if `operation` is null. Throws CommandError (usage) with the known names, or the
  /// error in the file.
  [[nodiscard]] space::TemplateDefinition load(const std::string& selector,
                                               const LoadedOperation* operation = nullptr) const;

  /// The templates of --template: the named one, or with an empty selector every built-in template for the problem's
  /// types. Throws CommandError (usage) if no template fits.
  [[nodiscard]] space::TemplateSet select(const std::string& selector, const Problem& problem) const;
  /// The same for a problem of `operation` (null: GEMM), with its own templates for an empty selector. Includes the
  /// templates of the operation's baselines; throws if one of them is none or lacks its variant.
  [[nodiscard]] space::TemplateSet select(const std::string& selector, const Problem& problem,
                                          const LoadedOperation* operation) const;

  /// Names of the templates that searches of the operation's problems use; none if it is not built in.
  [[nodiscard]] std::vector<std::string> templates_of(const std::string& operation) const;
  /// The value of --template for a template of that name: empty if it is a default for the problem, its name if it is
  /// built in, else kNobodysFile. Empty for a user's own operation, which lists its templates itself.
  [[nodiscard]] std::string selector_of(const std::string& name, const Problem& problem) const;

  /// `selector`: a built-in name, or the path of an operation's JSON. Throws CommandError (usage) as above.
  [[nodiscard]] LoadedOperation operation(const std::string& selector) const;
  /// Names of the built-in operations, sorted, without GEMM.
  [[nodiscard]] std::vector<std::string> operation_names() const;

 private:
  std::vector<std::filesystem::path> include_folders_;
};

}  // namespace pgtune::tool
