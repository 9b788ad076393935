// SPDX-License-Identifier: MIT
// The templates pgtune knows: those built into it, and a user's own by path.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/problem.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

class Catalogue {
 public:
  /// Names of the built-in templates, sorted.
  [[nodiscard]] std::vector<std::string> names() const;

  /// `selector`: a built-in name, or the path of a template's JSON (anything with a '/' or ending in ".json").
  /// Throws CommandError (usage) with the names there are, or what is wrong with the file.
  [[nodiscard]] space::TemplateDefinition load(const std::string& selector) const;

  /// What --template means: the named one, or with an empty selector every built-in template for the problem's types.
  /// Throws CommandError (usage) where no template fits.
  [[nodiscard]] space::TemplateSet select(const std::string& selector, const Problem& problem) const;
};

}  // namespace pgtune::tool
